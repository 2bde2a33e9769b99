import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseErasure } from '../../src/adapters/clickhouse/erasure/erasure-engine.ts';
import type { ErasureEngine, IdList } from '../../src/ports/erasure.ts';
import { selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';

const maxIds = 1_000;

describe('an erasure list', () => {
  let stores: TestStores;
  let engine: Engine;
  let erasures: ErasureEngine;
  let lists = 0;

  beforeAll(async () => {
    stores = await createStores('two');
    engine = connectTestEngine(stores);
    erasures = clickhouseErasure(engine, maxIds);
  });
  afterAll(async () => {
    await closeEngine(engine);
    await stores.drop();
  });

  const add = (content: Buffer, isGzip: boolean): Promise<IdList> => {
    lists += 1;
    const file = { body: Readable.from([content], { objectMode: false }), isGzip };
    return erasures.addFile(lists, 5, file, new AbortController().signal);
  };

  it('contains the same IDs on every shard until it is dropped', async () => {
    const content = Buffer.from(`${randomUUID()}\nnot-an-id\n${randomUUID()}\n`);
    expect(await add(gzipSync(content), true)).toMatchObject({ ids: 2, invalidLines: 1 });
    expect(await erasures.countListed(lists)).toEqual([2, 2]);
    expect(await erasures.findLists()).toEqual([lists]);
    await erasures.dropList(lists);
    expect(await erasures.countListed(lists)).toEqual([0, 0]);
    expect(await erasures.findLists()).toEqual([]);
  });

  it('rejects a corrupt gzip file', async () => {
    const whole = gzipSync(Buffer.from(Array.from({ length: 1_000 }, () => `${randomUUID()}\n`).join('')));
    await expect(add(whole.subarray(0, -100), true)).rejects.toMatchObject({ code: 'corrupt_gzip', isFinal: true });
    await expect(add(Buffer.from('no gzip'), true)).rejects.toMatchObject({ code: 'corrupt_gzip' });
  });

  it('rejects a file without a device ID', async () => {
    await expect(add(Buffer.from('no ID\n'), false)).rejects.toMatchObject({ code: 'invalid_id_list' });
  });

  it('is rejected as soon as it exceeds the maximum number of IDs, before it is copied to other shards', async () => {
    const digits = '3f2504e04f8941d39a0c0305e82c3301\n';
    await expect(add(gzipSync(Buffer.from(digits.repeat(200_000))), true)).rejects.toMatchObject({
      code: 'invalid_id_list',
    });
    const ofShards = `SELECT count() > 0 FROM erased_devices_local WHERE batch_id = ${lists}`;
    expect((await selectOnShards(stores, ofShards)).toSorted()).toEqual(['0', '1']);
  });
});
