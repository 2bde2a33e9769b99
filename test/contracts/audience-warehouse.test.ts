import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clickhouseAudienceWarehouse } from '../../src/adapters/clickhouse/audience-warehouse.ts';
import { closeEngine, onEveryShard, type Engine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseLoadStage } from '../../src/adapters/clickhouse/load-stage.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import type { AudienceWarehouse } from '../../src/ports/audience-warehouse.ts';
import type { Load, LoadStage } from '../../src/ports/load-stage.ts';
import { device } from '../support/device-id.ts';
import { topologies } from '../support/environment.ts';
import { memberLoad, streamedFile, wholeFile } from '../support/staging.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';

const { signal } = new AbortController();
const { maxLineBytes } = defaultLimits;
const partnerId = 7;
const rows = (from: number, to: number, event = ''): string =>
  Array.from({ length: to - from }, (_, n) => `${device(from + n)},${event}\n`).join('');

describe.each(topologies)('the audience warehouse on %s shard(s)', (topology) => {
  let stores: TestStores;
  let engine: Engine;
  let stage: LoadStage;
  let audiences: AudienceWarehouse;
  let nextId = 1;

  const newLoad = (audienceId: number, generation = 0): Load =>
    memberLoad(nextId++, { jobId: 1, partnerId, audienceId, generation });
  const of = (audienceId: number, generation = 0) => ({ id: 1, partnerId, audienceId, generation });
  /** One file into an audience, from bytes to members. */
  const bring = async (load: Load, text: string): Promise<void> => {
    await stage.stage(load, streamedFile(load, load.loadId, text), maxLineBytes, signal);
    await audiences.publish(load, [load.loadId]);
  };

  beforeAll(async () => {
    stores = await createStores(topology);
    engine = connectTestEngine(stores);
    stage = clickhouseLoadStage(engine);
    audiences = clickhouseAudienceWarehouse(engine);
    const values = Array.from({ length: 100 }, (_, n) => ({ device: device(n) }));
    // Twice, in parts that are not merged: each is known once.
    for (let time = 0; time < 2; time++) {
      await engine.shards[0].insert({ table: 'known_devices', values, format: 'JSONEachRow' });
    }
  });
  afterAll(async () => {
    await closeEngine(engine);
    await stores.drop();
  });

  it('counts rows and distinct devices of each file of a load', async () => {
    const load = newLoad(1);
    const files = [
      wholeFile(load, 11, `id,event\n${rows(0, 20)}${rows(0, 5, 'click')}${rows(0, 5, 'click')}`),
      wholeFile(load, 12, `${rows(10, 30)}nonsense,\n`),
      wholeFile(load, 13, rows(0, 3).replaceAll(',', '\t').slice(0, -1)),
    ];
    await stage.stageTogether(load, files, maxLineBytes, signal);
    expect(await stage.countRows(load.loadId)).toEqual(
      new Map([
        [11, { accepted: 30, rejects: [] }],
        [12, { accepted: 20, rejects: [{ reason: 'invalid_id', rows: 1, firstRow: 21 }] }],
        [13, { accepted: 3, rejects: [] }],
      ]),
    );
    expect(await audiences.countUploaded(load.loadId)).toEqual(
      new Map([
        [11, 20],
        [12, 20],
        [13, 3],
      ]),
    );
  });

  it('publishes the files that are named, and nothing twice', async () => {
    const load = newLoad(2);
    const files = [wholeFile(load, 21, rows(90, 110)), wholeFile(load, 22, rows(500, 600))];
    await stage.stageTogether(load, files, maxLineBytes, signal);
    await audiences.publish(load, [21]);
    await audiences.publish(load, [21]);
    expect(await audiences.countDevices(of(2))).toEqual({ unique: 20, matched: 10 });
  });

  it('counts a device once, whatever its events and files, and only in its own audience and generation', async () => {
    await bring(newLoad(3), `${rows(0, 50)}${rows(0, 50, 'click')}`);
    await bring(newLoad(3), rows(25, 125, 'view'));
    await bring(newLoad(3, 1), rows(1000, 1007));
    await bring(newLoad(4), rows(2000, 2100));
    expect(await audiences.countDevices(of(3))).toEqual({ unique: 125, matched: 100 });
    expect(await audiences.countDevices(of(3, 1))).toEqual({ unique: 7, matched: 0 });
    expect(await audiences.countDevices(of(5))).toEqual({ unique: 0, matched: 0 });
  });

  it('looks few devices up among many known ones, with the same result', async () => {
    await onEveryShard(engine, (shard) =>
      shard.command({
        query: `INSERT INTO known_devices_local SELECT reinterpretAsUUID(sipHash128(number)) FROM numbers(400000)`,
      }),
    );
    await bring(newLoad(6), rows(98, 102));
    expect(await audiences.countDevices(of(6))).toEqual({ unique: 4, matched: 2 });
    expect(await audiences.countDevices(of(3))).toEqual({ unique: 125, matched: 100 });
  });

  it('purges dead generations and nothing else', async () => {
    await bring(newLoad(8, 0), rows(0, 10));
    await bring(newLoad(8, 1), rows(0, 20));
    await bring(newLoad(8, 2), rows(0, 30));
    await bring(newLoad(9, 0), rows(0, 40));
    await audiences.purge(partnerId, [of(8, 0), of(8, 1), of(9, 5)], signal);
    const left = [of(8, 0), of(8, 1), of(8, 2), of(9, 0)].map((generation) => audiences.countDead(generation));
    expect(await Promise.all(left)).toEqual([0, 0, 30, 40]);
  });
});
