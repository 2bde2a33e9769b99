import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseLoadStage } from '../../src/adapters/clickhouse/load-stage.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import type { Load, LoadStage, StreamedFile } from '../../src/ports/load-stage.ts';
import type { Warehouse } from '../../src/ports/warehouse.ts';
import { device } from '../support/device-id.ts';
import { placesOnTopologies } from '../support/staging-places.ts';
import { attributeLoad, streamedFile } from '../support/staging.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';

const { signal } = new AbortController();
const { maxLineBytes } = defaultLimits;

const suppressed = { rows: 0, shown: 0 };

describe.each(placesOnTopologies)(
  'the warehouse on $topology shard(s), staged in $place',
  ({ topology, roomBytes }) => {
    let stores: TestStores;
    let engine: Engine;
    let warehouse: Warehouse;
    let stage: LoadStage;
    let nextId = 1;

    const newLoad = (jobId: number): Load => attributeLoad(nextId++, { id: jobId, partnerId: 7 });
    /** Stages a load with a single file, whose ID equals the load ID. */
    const stageText = (load: Load, text: string): Promise<void> =>
      stage.stage(load, streamedFile(load, load.loadId, text), maxLineBytes, signal);
    const countsOf = async (load: Load): Promise<unknown> => (await stage.countRows(load)).get(load.loadId);
    const select = async (query: string): Promise<string[]> => {
      const result = await engine.shards[0][0].query({ query, format: 'TabSeparated' });
      return (await result.text()).split('\n').filter((line) => line !== '');
    };

    beforeAll(async () => {
      stores = await createStores(topology);
      engine = connectTestEngine(stores);
      warehouse = clickhouseWarehouse(engine);
      stage = clickhouseLoadStage(engine, roomBytes);
      const keys = [
        { key: 'sport', attributeId: 11 },
        { key: 'news', attributeId: 12 },
      ];
      // A second call, as after a takeover, changes nothing.
      await warehouse.writeJobKeys(1, keys);
      await warehouse.writeJobKeys(1, keys);
    });

    afterAll(async () => {
      await closeEngine(engine);
      await stores.drop();
    });

    it('stages, counts, publishes, and drops a load', async () => {
      const load = newLoad(1);
      await stageText(load, `id,keys\n${device(1)},sport|news\n\nnonsense,sport\n${device(2)},golf\n`);
      expect(await countsOf(load)).toEqual({
        accepted: 1,
        stagedRows: 2,
        suppressed,
        rejects: [
          { reason: 'invalid_id', rows: 1, firstRow: 4 },
          { reason: 'unknown_key', rows: 1, firstRow: 5 },
        ],
      });
      const rejects = await stage.listRejects({
        fileIds: [load.loadId],
        loadIds: [load.loadId],
        after: { fileId: 0, row: 0 },
        limit: 10,
      });
      expect(rejects.map(({ reason, row, text }) => ({ reason, row, text }))).toEqual([
        { reason: 'invalid_id', row: 4, text: Buffer.from('nonsense,sport') },
        { reason: 'unknown_key', row: 5, text: Buffer.from(`${device(2)},golf`) },
      ]);
      expect(await select('SELECT count() FROM device_attributes')).toEqual(['0']);
      const staged = await stage.countStaged(load, [load.loadId]);
      expect(staged.toSorted((a, b) => a - b)).toEqual(topology === 'one' ? [2] : [0, 2]);
      expect(await warehouse.publish(load)).toEqual(staged);
      expect(await warehouse.publish(load)).toEqual(staged);
      expect(await select('SELECT attribute_id, device FROM device_attributes FINAL ORDER BY 1')).toEqual([
        `11\t${device(1)}`,
        `12\t${device(1)}`,
      ]);
      expect((await stage.listStaged('all')).loadIds).toContain(load.loadId);
      await stage.dropLoad(load.loadId);
      expect((await stage.listStaged('all')).loadIds).not.toContain(load.loadId);
    });

    it('publishes nothing for a load whose stage was dropped', async () => {
      const load = newLoad(1);
      await stageText(load, `${device(77)},sport\n`);
      await stage.dropLoad(load.loadId);
      await warehouse.publish(load);
      expect(await select(`SELECT count() FROM device_attributes WHERE device = '${device(77)}'`)).toEqual(['0']);
    });

    it("counts each device of a job's committed loads once across files", async () => {
      const [first, second, abandoned] = [newLoad(1), newLoad(1), newLoad(1)];
      const lines = (from: number, to: number): string =>
        Array.from({ length: to - from }, (_, n) => `${device(from + n)},sport`).join('\n');
      await stageText(first, lines(100, 160));
      await stageText(second, lines(140, 200));
      await stageText(abandoned, lines(500, 600));
      const loads = [first.loadId, second.loadId];
      expect(await warehouse.publishDevices(1, loads)).toEqual({ rows: 120, devices: 100 });
      expect(await warehouse.publishDevices(1, loads)).toEqual({ rows: 120, devices: 100 });
      expect(await select(`SELECT count() FROM known_devices FINAL WHERE device >= '${device(100)}'`)).toEqual(['100']);
      await warehouse.dropJob(1);
      expect((await stage.listStaged('all')).jobIds).toEqual([]);
    });

    it('reads gzip files with one or several members and reports a damaged file', async () => {
      await warehouse.writeJobKeys(2, [{ key: 'sport', attributeId: 11 }]);
      const whole = Buffer.concat([gzipSync(`${device(1)},sport\n`), gzipSync(`${device(2)},sport\n`)]);
      const stageGzip = (load: Load, bytes: Buffer): Promise<void> => {
        const file: StreamedFile = {
          ...streamedFile(load, load.loadId, ''),
          body: Readable.from([bytes]),
          isGzip: true,
        };
        return stage.stage(load, file, maxLineBytes, signal);
      };
      const good = newLoad(2);
      await stageGzip(good, whole);
      expect(await countsOf(good)).toEqual({ accepted: 2, stagedRows: 2, rejects: [], suppressed });
      await expect(stageGzip(newLoad(2), whole.subarray(0, -12))).rejects.toMatchObject({
        code: 'corrupt_gzip',
      });
      const damaged = Buffer.from(whole);
      damaged.fill(0x55, 12, 30);
      await expect(stageGzip(newLoad(2), damaged)).rejects.toMatchObject({ code: 'corrupt_gzip' });
    });

    it('rejects every row when the partner has no attributes', async () => {
      const load = newLoad(3);
      await warehouse.writeJobKeys(load.jobId, []);
      await stageText(load, `${device(1)},sport\n`);
      expect(await countsOf(load)).toEqual({
        accepted: 0,
        stagedRows: 0,
        suppressed,
        rejects: [{ reason: 'unknown_key', rows: 1, firstRow: 1 }],
      });
    });
  },
);
