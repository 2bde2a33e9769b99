import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeEngine, type Engine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import { versionsOfJob } from '../../src/domain/device-version.ts';
import { sniffLayout } from '../../src/domain/sniff-layout.ts';
import type { Load, LoadSource, Warehouse } from '../../src/ports/warehouse.ts';
import { topologies } from '../support/environment.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { device } from '../support/device-id.ts';
import { connectTestEngine } from '../support/test-engine.ts';

const signal = new AbortController().signal;

function plain(text: string): LoadSource {
  const bytes = Buffer.from(text);
  return {
    body: Readable.from([bytes]),
    isGzip: false,
    layout: sniffLayout(bytes),
    maxLineBytes: defaultLimits.maxLineBytes,
  };
}

describe.each(topologies)('the warehouse on %s shard(s)', (topology) => {
  let stores: TestStores;
  let engine: Engine;
  let warehouse: Warehouse;
  let nextId = 1;

  const newLoad = (jobId: number): Load => {
    const loadId = nextId++;
    return { loadId, fileId: loadId, jobId, partnerId: 7, versions: versionsOfJob(jobId) };
  };
  const select = async (query: string): Promise<string[]> => {
    const result = await engine.shards[0].query({ query, format: 'TabSeparated' });
    return (await result.text()).split('\n').filter((line) => line !== '');
  };

  beforeAll(async () => {
    stores = await createStores(topology);
    engine = connectTestEngine(stores);
    warehouse = clickhouseWarehouse(engine);
    const keys = [
      { key: 'sport', attributeId: 11 },
      { key: 'news', attributeId: 12 },
    ];
    // As after a takeover: a second time changes nothing.
    await warehouse.writeJobKeys(1, keys);
    await warehouse.writeJobKeys(1, keys);
  });

  afterAll(async () => {
    await closeEngine(engine);
    await stores.drop();
  });

  it('stages, counts, publishes and drops a load', async () => {
    const load = newLoad(1);
    await warehouse.stage(
      load,
      plain(`id,keys\n${device(1)},sport|news\n\nnonsense,sport\n${device(2)},golf\n`),
      signal,
    );
    expect(await warehouse.countRows(load)).toEqual({
      accepted: 1,
      rejects: [
        { reason: 'invalid_id', rows: 1, firstRow: 4 },
        { reason: 'unknown_key', rows: 1, firstRow: 5 },
      ],
    });
    const rejects = await warehouse.listRejects({ loadIds: [load.loadId], after: { fileId: 0, row: 0 }, limit: 10 });
    expect(rejects.map(({ reason, row, text }) => ({ reason, row, text }))).toEqual([
      { reason: 'invalid_id', row: 4, text: Buffer.from('nonsense,sport') },
      { reason: 'unknown_key', row: 5, text: Buffer.from(`${device(2)},golf`) },
    ]);
    expect(await select('SELECT count() FROM device_attributes')).toEqual(['0']);
    await warehouse.publish(load);
    await warehouse.publish(load);
    expect(await select('SELECT attribute_id, device FROM device_attributes FINAL ORDER BY 1')).toEqual([
      `11\t${device(1)}`,
      `12\t${device(1)}`,
    ]);
    expect((await warehouse.listStaged()).loadIds).toContain(load.loadId);
    await warehouse.dropLoad(load.loadId);
    expect((await warehouse.listStaged()).loadIds).not.toContain(load.loadId);
  });

  it('publishes nothing for a load whose stage was dropped', async () => {
    const load = newLoad(1);
    await warehouse.stage(load, plain(`${device(77)},sport\n`), signal);
    await warehouse.dropLoad(load.loadId);
    await warehouse.publish(load);
    expect(await select(`SELECT count() FROM device_attributes WHERE device = '${device(77)}'`)).toEqual(['0']);
  });

  it('counts the devices of a job once over its files, and only those of committed loads', async () => {
    const [first, second, abandoned] = [newLoad(1), newLoad(1), newLoad(1)];
    const lines = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, n) => `${device(from + n)},sport`).join('\n');
    await warehouse.stage(first, plain(lines(100, 160)), signal);
    await warehouse.stage(second, plain(lines(140, 200)), signal);
    await warehouse.stage(abandoned, plain(lines(500, 600)), signal);
    const loads = [first.loadId, second.loadId];
    expect(await warehouse.publishDevices(1, loads)).toBe(100);
    expect(await warehouse.publishDevices(1, loads)).toBe(100);
    expect(await select(`SELECT count() FROM known_devices FINAL WHERE device >= '${device(100)}'`)).toEqual(['100']);
    await warehouse.dropJob(1);
    expect((await warehouse.listStaged()).jobIds).toEqual([]);
  });

  it('reads gzip as it is, also in several members, and tells a damaged one', async () => {
    await warehouse.writeJobKeys(2, [{ key: 'sport', attributeId: 11 }]);
    const whole = Buffer.concat([gzipSync(`${device(1)},sport\n`), gzipSync(`${device(2)},sport\n`)]);
    const source = (bytes: Buffer): LoadSource => ({ ...plain(''), body: Readable.from([bytes]), isGzip: true });
    const good = newLoad(2);
    await warehouse.stage(good, source(whole), signal);
    expect(await warehouse.countRows(good)).toEqual({ accepted: 2, rejects: [] });
    await expect(warehouse.stage(newLoad(2), source(whole.subarray(0, -12)), signal)).rejects.toMatchObject({
      code: 'corrupt_gzip',
    });
    const damaged = Buffer.from(whole);
    damaged.fill(0x55, 12, 30);
    await expect(warehouse.stage(newLoad(2), source(damaged), signal)).rejects.toMatchObject({ code: 'corrupt_gzip' });
  });

  it('rejects every row when the partner has no attributes', async () => {
    const load = newLoad(3);
    await warehouse.stage(load, plain(`${device(1)},sport\n`), signal);
    expect(await warehouse.countRows(load)).toEqual({
      accepted: 0,
      rejects: [{ reason: 'unknown_key', rows: 1, firstRow: 1 }],
    });
  });
});
