import * as fc from 'fast-check';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, type Server, closeEngine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseDeviceIndex } from '../../src/adapters/clickhouse/index/device-index.ts';
import { engineOptions } from '../../src/entry/connect-engine.ts';
import { foldIndex, rebuildIndex, verifyIndex } from '../../src/usecases/index/fold-index.ts';
import { refreshMatched } from '../../src/usecases/index/refresh-matched.ts';
import { deviceOfNumber, insertAudience, insertByNumbers } from '../support/audience-tables.ts';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { foldNow } from '../support/fold-now.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// Runs random histories of imports, deletes, and audience loads, and interrupts folds before or after a statement.
// Afterward, every bitmap must contain exactly the devices that the rows contain.

const devices = 60;
const attributes = [1, 2, 3];

type Rows = { readonly from: number; readonly count: number; readonly country: string; readonly idType: number };

type Step =
  | ({ readonly do: 'add' | 'remove'; readonly attribute: number; readonly isEndOfJob: boolean } & Rows)
  | ({ readonly do: 'replace'; readonly attribute: number } & Rows)
  | { readonly do: 'delete'; readonly attribute: number }
  | { readonly do: 'append'; readonly from: number; readonly count: number; readonly event: string }
  | { readonly do: 'clear' | 'merge' | 'rebuild' }
  | { readonly do: 'fold'; readonly failsAt: number; readonly isAfter: boolean };

const rows = {
  from: fc.nat(devices - 1),
  count: fc.integer({ min: 1, max: 30 }),
  country: fc.constantFrom('DE', 'US', ''),
  idType: fc.constantFrom(1, 3),
};
const attribute = fc.constantFrom(...attributes);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('add', 'remove'), attribute, isEndOfJob: fc.boolean(), ...rows }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replace'), attribute, ...rows }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete'), attribute }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('append'),
      from: rows.from,
      count: rows.count,
      event: fc.constantFrom('', 'buy', 'view'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('clear', 'merge', 'merge', 'rebuild') }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('fold'), failsAt: fc.nat(20), isAfter: fc.boolean() }) },
);

const isPlanted = (error: unknown): boolean =>
  error instanceof Error && (error.message === 'planted' || isPlanted(error.cause));

/** A rebuild folds all earlier histories too, so the long run starts again with empty databases. */
const batches = runsOf({ short: 1, long: 10 });
const cases = (['one', 'two'] as const).flatMap((topology) =>
  Array.from({ length: batches }, (_, batch) => [topology, batch + 1] as const),
);

describe.each(cases)('the device index on a cluster with shards: %s, batch %s', (topology, batch) => {
  let stores: TestStores;
  let deps: Wired;
  let failing: Engine;
  const fault = { left: Number.POSITIVE_INFINITY, isAfter: false };

  beforeAll(async () => {
    stores = await createStores(topology);
    deps = await wireUp(stores);
    failing = connectEngine(engineOptions(stores.config, 'test'), failAtStatement);
  });
  afterAll(async () => {
    await closeEngine(failing);
    await deps.close();
    await stores.drop();
  });

  /** Fails before or after one of the statements, as if the worker were killed there. */
  function failAtStatement(server: Server): Server {
    return new Proxy(server, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'command') return value.bind(target) as unknown;
        return async (...args: Parameters<Server['command']>) => {
          fault.left -= 1;
          const fails = fault.left < 0;
          if (fails && !fault.isAfter) throw new Error('planted');
          const result = await target.command(...args);
          if (fails) throw new Error('planted');
          return result;
        };
      },
    });
  }

  const fill = (table: string, select: string): Promise<void> => insertByNumbers(stores, table, select);
  const range = ({ from, count }: Pick<Rows, 'from' | 'count'>): string =>
    `FROM numbers(${devices}) WHERE number >= ${from} AND number < ${from + count}`;

  async function newHistory() {
    const partner = await newBarePartner(deps);
    await deps.attributes.create(partner.id, { name: 'a', foreignKeys: [] });
    const { audienceId } = await insertAudience(stores, partner.id, 'a');
    return { partnerId: partner.id, audienceId, seq: 1, generation: 0, loadId: 1 };
  }
  type History = Awaited<ReturnType<typeof newHistory>>;

  async function endJob(client: Client, { partnerId, seq }: History, deleted?: number): Promise<void> {
    const kind = deleted === undefined ? 'import' : 'delete';
    const inserted = await client.query<{ id: string }>(
      'INSERT INTO job (partner_id, seq, kind, status) VALUES ($1, $2, $3, 1) RETURNING id',
      [partnerId, seq, kind],
    );
    const [job] = inserted.rows;
    await client.query(
      `INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type, attribute_ids)
       VALUES ($1, $2, 1, 'f', 1, 1, $3)`,
      [job?.id, partnerId, deleted === undefined ? null : JSON.stringify([deleted])],
    );
    await client.query('UPDATE job SET status = 2 WHERE id = $1', [job?.id]);
  }

  /** Each history has its own attribute IDs. */
  const idOf = ({ partnerId }: History, number: number): number => partnerId * 10 + number;

  async function apply(history: History, client: Client, now: Step): Promise<void> {
    const { partnerId, audienceId } = history;
    if (now.do === 'add' || now.do === 'remove') {
      const isDelete = now.do === 'remove';
      const version = history.seq * 2 + (isDelete ? 0 : 1);
      await fill(
        'device_attributes',
        `SELECT ${partnerId}, ${idOf(history, now.attribute)}, ${deviceOfNumber}, ${now.idType}, '${now.country}', ${version}, ${Number(isDelete)} ${range(now)}`,
      );
      if (!isDelete) await fill('known_devices', `SELECT ${deviceOfNumber} ${range(now)}`);
      if (now.isEndOfJob) {
        await endJob(client, history);
        history.seq += 1;
      }
    } else if (now.do === 'replace') {
      const id = idOf(history, now.attribute);
      const version = history.seq * 2;
      await commandOnShards(
        stores,
        `INSERT INTO device_attributes_local SELECT partner_id, attribute_id, device, id_type, country, ${version}, 1
         FROM device_attributes_local FINAL WHERE partner_id = ${partnerId} AND attribute_id = ${id}`,
      );
      await fill(
        'device_attributes',
        `SELECT ${partnerId}, ${id}, ${deviceOfNumber}, ${now.idType}, '${now.country}', ${version + 1}, 0 ${range(now)}`,
      );
      await fill('known_devices', `SELECT ${deviceOfNumber} ${range(now)}`);
      await endJob(client, history);
      history.seq += 1;
    } else if (now.do === 'delete') {
      await commandOnShards(
        stores,
        `ALTER TABLE device_attributes_local DELETE WHERE partner_id = ${partnerId} AND attribute_id = ${idOf(history, now.attribute)}
         SETTINGS mutations_sync = 2`,
      );
      await endJob(client, history, idOf(history, now.attribute));
      history.seq += 1;
    } else if (now.do === 'append') {
      await fill(
        'audience_devices',
        `SELECT ${partnerId}, ${audienceId}, ${history.generation}, ${deviceOfNumber}, '${now.event}', 1 ${range(now)}`,
      );
      history.loadId += 1;
      await client.query('UPDATE audience SET last_load_id = $2 WHERE id = $1', [audienceId, history.loadId]);
    } else if (now.do === 'clear') {
      history.generation += 1;
      await client.query('UPDATE audience SET generation = $2, last_load_id = NULL WHERE id = $1', [
        audienceId,
        history.generation,
      ]);
    } else if (now.do === 'merge') {
      for (const table of ['device_attributes', 'known_devices', 'attribute_bitmaps', 'device_numbers'])
        await commandOnShards(stores, `OPTIMIZE TABLE ${table}_local`);
    } else if (now.do === 'rebuild') {
      await rebuildIndex({ ...deps, log: silentLog });
    } else if (now.do === 'fold') {
      Object.assign(fault, { left: now.failsAt, isAfter: now.isAfter });
      const index = clickhouseDeviceIndex(failing);
      await foldIndex({ ...deps, index, log: silentLog }, new AbortController().signal).catch((error: unknown) => {
        if (!isPlanted(error)) throw error;
      });
    }
  }

  const numbered = (bitmaps: string, columns: string): string =>
    `SELECT ${columns}, d.device AS device FROM (
       SELECT ${columns}, arrayJoin(bitmapToArray(devices)) AS number FROM ${bitmaps}
     ) AS b INNER JOIN device_numbers_local AS d ON b.number = d.number`;

  async function expectEqual(one: string, other: string): Promise<void> {
    const [found, wanted] = [await selectOnShards(stores, one), await selectOnShards(stores, other)];
    expect(found).toEqual(wanted);
  }

  async function compareAudience(
    audienceId: number,
    generation: number,
    { fold_id, devices: counted }: { readonly fold_id: string; readonly devices: string },
  ): Promise<void> {
    const isOfAudience = `audience_id = ${audienceId} AND generation = ${generation}`;
    const bitmaps = `audience_bitmaps_local FINAL WHERE ${isOfAudience} AND fold_id = ${fold_id}`;
    const members = `SELECT DISTINCT device FROM audience_devices_local WHERE ${isOfAudience}`;
    await expectEqual(numbered(`${bitmaps} AND kind = 0`, 'kind'), `SELECT 0, device FROM (${members})`);
    expect(Number(counted)).toBe((await selectOnShards(stores, members)).length);
    const events = await selectOnShards(
      stores,
      `SELECT DISTINCT event FROM audience_devices_local WHERE ${isOfAudience} AND event != ''`,
    );
    // If no row has an event, only the bitmaps of the whole audience are stored.
    const hasEvents = events.length > 0 ? '1' : '0';
    await expectEqual(
      numbered(`${bitmaps} AND kind = 1`, 'event'),
      `SELECT DISTINCT event, device FROM audience_devices_local WHERE ${isOfAudience} AND ${hasEvents}`,
    );
    await expectEqual(
      numbered(`${bitmaps} AND kind = 2`, 'event'),
      `SELECT min(event), device FROM audience_devices_local WHERE ${isOfAudience} AND ${hasEvents} GROUP BY device`,
    );
  }

  async function compareWithRows({ partnerId, audienceId, generation }: History): Promise<void> {
    const cell = 'attribute_id, country, id_type';
    await expectEqual(
      numbered(`attribute_bitmaps_local FINAL WHERE partner_id = ${partnerId}`, cell),
      `SELECT ${cell}, device FROM device_attributes_local FINAL WHERE partner_id = ${partnerId}`,
    );
    await expectEqual(
      numbered('attribute_bitmaps_local FINAL WHERE partner_id = 0', 'attribute_id'),
      'SELECT DISTINCT 0, device FROM known_devices_local',
    );
    const folded = await withDatabase(stores, (client) =>
      client.query<{ fold_id: string; generation: number; devices: string }>(
        'SELECT fold_id, generation, devices FROM index_audience WHERE audience_id = $1',
        [audienceId],
      ),
    );
    const [state] = folded.rows;
    if (state?.generation === generation) await compareAudience(audienceId, generation, state);
    const numbers = await selectOnShards(
      stores,
      'SELECT count() = uniqExact(device) AND count() = uniqExact(number) AND count() = max(number) FROM device_numbers_local',
    );
    expect(new Set(numbers)).toEqual(new Set(['1']));
  }

  it(
    'contains the same devices as the rows after random changes and interrupted folds',
    { timeout: 600_000 },
    async () => {
      const history = fc.array(step, { minLength: 5, maxLength: 14, size: 'max' });
      const check = fc.asyncProperty(history, async (steps) => {
        const current = await newHistory();
        await withDatabase(stores, async (client) => {
          for (const now of steps) await apply(current, client, now);
          // The last job ends, so that all of its rows are noted for the next fold.
          await endJob(client, current);
        });
        await withDatabase(stores, (client) => client.query('UPDATE index_change SET retry_at = now()'));
        await foldNow(deps);
        await compareWithRows(current);
        expect(await verifyIndex(deps)).toEqual([]);
      });
      const numRuns = runsOf({ short: 4, long: 15 });
      await fc.assert(check, { seed: campaignSeed + batch - 1, numRuns, endOnFailure: true });
    },
  );

  it('counts matched devices again after an import has added devices', async () => {
    const { partnerId, audienceId } = await newHistory();
    const member = (from: number, count: number): string => `FROM numbers(${from}, ${count})`;
    await fill(
      'audience_devices',
      `SELECT ${partnerId}, ${audienceId}, 0, ${deviceOfNumber}, '', 1 ${member(1_000, 100)}`,
    );
    await foldNow(deps);
    await fill('known_devices', `SELECT ${deviceOfNumber} ${member(1_040, 1_000)}`);
    const matched = await withDatabase(stores, async (client) => {
      await client.query(`SELECT nextval('known_devices_version')`);
      await client.query(`DELETE FROM sweep WHERE name = 'refresh matched devices'`);
      await refreshMatched({ ...deps, log: silentLog }, new AbortController().signal);
      const { rows: found } = await client.query<{ matched_devices: string; is_new: boolean }>(
        `SELECT matched_devices, matched_at > now() - interval '1 minute' AS is_new FROM audience WHERE id = $1`,
        [audienceId],
      );
      return found;
    });
    expect(matched).toEqual([{ matched_devices: '60', is_new: true }]);
  });
});
