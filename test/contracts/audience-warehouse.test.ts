import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clickhouseAudienceWarehouse } from '../../src/adapters/clickhouse/audience-warehouse.ts';
import { type Engine, closeEngine, onEveryShard } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseLoadStage } from '../../src/adapters/clickhouse/load-stage.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import type { Load, LoadStage } from '../../src/ports/load-stage.ts';
import type { AudienceWarehouse } from '../../src/ports/warehouse.ts';
import { device } from '../support/device-id.ts';
import { placesOnTopologies } from '../support/staging-places.ts';
import { asTheyCome, memberLoad, streamedFile, wholeFile } from '../support/staging.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';

const { signal } = new AbortController();
const { maxLineBytes } = defaultLimits;
const partnerId = 7;
const rows = (from: number, to: number, event = ''): string =>
  Array.from({ length: to - from }, (_, n) => `${device(from + n)},${event}\n`).join('');

describe.each(placesOnTopologies)(
  'the audience warehouse on $topology shard(s), staged in $place',
  ({ topology, roomBytes }) => {
    let stores: TestStores;
    let engine: Engine;
    let stage: LoadStage;
    let audiences: AudienceWarehouse;
    let nextId = 1;

    const newLoad = (audienceId: number, generation = 0): Load =>
      memberLoad(nextId++, { jobId: 1, partnerId, audienceId, generation });
    const of = (audienceId: number, generation = 0) => ({ id: 1, partnerId, audienceId, generation });
    const bothCounts = (job: ReturnType<typeof of>, about = 100) => audiences.countDevices(job, about);
    /** Loads one file into an audience, from reading its bytes to publishing its members. */
    const loadText = async (load: Load, text: string): Promise<void> => {
      await stage.stage(load, streamedFile(load, load.loadId, text), maxLineBytes, signal);
      await audiences.publish(load, [load.loadId]);
    };

    beforeAll(async () => {
      stores = await createStores(topology);
      engine = connectTestEngine(stores);
      stage = clickhouseLoadStage(engine, roomBytes);
      audiences = clickhouseAudienceWarehouse(engine);
      const values = Array.from({ length: 100 }, (_, n) => ({ device: device(n) }));
      // The devices are inserted twice, in unmerged parts. Each device must count once.
      for (let time = 0; time < 2; time++) {
        await engine.shards[0][0].insert({ table: 'known_devices', values, format: 'JSONEachRow' });
      }
    });
    afterAll(async () => {
      await closeEngine(engine);
      await stores.drop();
    });

    it('counts the rows and distinct devices of each file in a load', async () => {
      const load = newLoad(1);
      const files = [
        wholeFile(load, 11, `id,event\n${rows(0, 20)}${rows(0, 5, 'click')}${rows(0, 5, 'click')}`),
        wholeFile(load, 12, `${rows(10, 30)}nonsense,\n`),
        wholeFile(load, 13, rows(0, 3).replaceAll(',', '\t').slice(0, -1)),
      ];
      await stage.stageTogether(load, asTheyCome(files), maxLineBytes, signal);
      const suppressed = { rows: 0, shown: 0 };
      expect(await stage.countRows(load)).toEqual(
        new Map([
          [11, { accepted: 30, stagedRows: 30, rejects: [], suppressed }],
          [
            12,
            { accepted: 20, stagedRows: 20, rejects: [{ reason: 'invalid_id', rows: 1, firstRow: 21 }], suppressed },
          ],
          [13, { accepted: 3, stagedRows: 3, rejects: [], suppressed }],
        ]),
      );
      expect(await audiences.countUploaded(load, [12])).toEqual(new Map([[12, 20]]));
      expect(await audiences.countUploaded(load, [11, 12, 13])).toEqual(
        new Map([
          [11, 20],
          [12, 20],
          [13, 3],
        ]),
      );
    });

    it('publishes only the given files, each exactly once', async () => {
      const load = newLoad(2);
      const files = [wholeFile(load, 21, rows(90, 110)), wholeFile(load, 22, rows(500, 600))];
      await stage.stageTogether(load, asTheyCome(files), maxLineBytes, signal);
      await audiences.publish(load, [21]);
      await audiences.publish(load, [21]);
      expect(await bothCounts(of(2))).toEqual({ unique: 20, matched: 10 });
    });

    it('counts each device once across all events and files of one audience and generation', async () => {
      await loadText(newLoad(3), `${rows(0, 50)}${rows(0, 50, 'click')}`);
      await loadText(newLoad(3), rows(25, 125, 'view'));
      await loadText(newLoad(3, 1), rows(1000, 1007));
      await loadText(newLoad(4), rows(2000, 2100));
      expect(await bothCounts(of(3))).toEqual({ unique: 125, matched: 100 });
      expect(await bothCounts(of(3, 1))).toEqual({ unique: 7, matched: 0 });
      expect(await bothCounts(of(5))).toEqual({ unique: 0, matched: 0 });
    });

    it('counts a few devices by lookup and many devices by range scan, with the same result', async () => {
      await onEveryShard(engine, (shard) =>
        shard.command({
          query: `INSERT INTO known_devices_local SELECT reinterpretAsUUID(sipHash128(number)) FROM numbers(400000)`,
        }),
      );
      await loadText(newLoad(6), rows(98, 102));
      for (const about of [4, 100, 2_000_000]) {
        expect(await bothCounts(of(6), about)).toEqual({ unique: 4, matched: 2 });
        expect(await bothCounts(of(3), about)).toEqual({ unique: 125, matched: 100 });
      }
      // The devices are spread over all ranges and inserted twice. Half of them are known.
      await onEveryShard(engine, async (shard) => {
        const query = `INSERT INTO audience_devices_local SELECT ${partnerId}, 10, 0, reinterpretAsUUID(sipHash128(number)), '', 1
          FROM numbers(395000, 10000)`;
        await shard.command({ query });
        await shard.command({ query });
      });
      const shards = engine.shards.length;
      for (const about of [10_000, 2_000_000]) {
        expect(await bothCounts(of(10), about)).toEqual({ unique: 10_000 * shards, matched: 5_000 * shards });
      }
    });

    it('purges dead generations of several partners at once and keeps all other rows', async () => {
      await loadText(newLoad(8, 0), rows(0, 10));
      await loadText(newLoad(8, 1), rows(0, 20));
      await loadText(newLoad(8, 2), rows(0, 30));
      await loadText(newLoad(9, 0), rows(0, 40));
      const ofOther = (generation: number) => ({ ...of(8, generation), partnerId: partnerId + 1 });
      for (const generation of [0, 1]) {
        await loadText(memberLoad(nextId++, { jobId: 1, ...ofOther(generation) }), rows(0, 50));
      }
      await audiences.purge([of(8, 0), ofOther(1), of(8, 1), of(9, 5)], signal);
      const checked = [of(8, 0), of(8, 1), of(8, 2), of(9, 0), ofOther(0), ofOther(1)];
      const { rows: left, storedRows } = await audiences.countDead(checked);
      expect(left).toEqual([0, 0, 30, 40, 50, 0]);
      expect(storedRows.get(partnerId + 1)).toBe(50);
    });

    it('counts a device only once, even if several staged files would add it to an audience', async () => {
      await loadText(newLoad(7), rows(0, 50));
      const inRoom = newLoad(7);
      await stage.stage(inRoom, streamedFile(inRoom, 71, rows(40, 60) + rows(40, 60, 'click')), maxLineBytes, signal);
      const together = newLoad(7);
      const files = [wholeFile(together, 72, rows(55, 65)), wholeFile(together, 73, rows(300, 310))];
      await stage.stageTogether(together, asTheyCome(files), maxLineBytes, signal);
      const added = (...loads: { load: Load; fileIds: number[] }[]) => audiences.countNewDevices(of(7), loads);
      expect(await added({ load: inRoom, fileIds: [71] })).toEqual({ unique: 10, matched: 10 });
      // File 73 was not validated.
      expect(await added({ load: inRoom, fileIds: [71] }, { load: together, fileIds: [72] })).toEqual({
        unique: 15,
        matched: 15,
      });
      expect(await added({ load: together, fileIds: [72, 73] })).toEqual({ unique: 20, matched: 10 });
      expect(await audiences.countNewDevices(of(8), [{ load: inRoom, fileIds: [71] }])).toEqual({
        unique: 20,
        matched: 20,
      });
      expect(await bothCounts(of(7))).toEqual({ unique: 50, matched: 50 });
      await stage.dropStages([inRoom.loadId, together.loadId]);
    });
  },
);
