import { setTimeout as pause } from 'node:timers/promises';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, withDatabase } from '../support/stores.ts';
import { type Wired, newBarePartner } from '../support/wired.ts';
import { runConcurrently } from './run-concurrently.ts';

export type Sample = {
  readonly seconds: number;
  readonly clears: number;
  /** The number of rows of cleared generations that are still stored. */
  readonly deadRows: number;
  /** The number of dead generations whose first check is not finished. */
  readonly due: number;
  readonly parts: number;
  readonly mutations: number;
};

export type ClearsResult = {
  readonly samples: readonly Sample[];
  readonly clearSeconds: number;
  /** The time from the last clear until no dead rows are stored. Infinite if dead rows were left at the time limit. */
  readonly drainSeconds: number;
  readonly purgedGenerations: number;
};

const clearsPerRound = 500;
const concurrentClears = 8;

/**
 * Clears and reloads audiences as fast as possible while workers purge. The clears use the API's store. A reload
 * inserts the rows directly, because loading a file takes longer than anything measured here.
 */
export async function clearAndReload(
  stores: TestStores,
  deps: Wired,
  options: {
    readonly clears: number;
    readonly audiences: number;
    readonly partners: number;
    readonly rows: number;
    readonly drainSeconds: number;
    readonly sampleSeconds: number;
    readonly onSample?: (sample: Sample) => void;
  },
): Promise<ClearsResult> {
  const audiences = await createAudiences(stores, deps, options.partners, options.audiences);
  /** Each shard gets its own random devices, so the sum over the shards is the number of rows. */
  const reload = (those: readonly Audience[]): Promise<void> =>
    commandOnShards(
      stores,
      `INSERT INTO audience_devices_local (partner_id, audience_id, generation, device, event, file_id)
       SELECT one.1, one.2, one.3, generateUUIDv4(number), '', 1
       FROM (SELECT arrayJoin([${those.map((a) => `(${a.partnerId}, ${a.id}, ${a.generation})`).join()}]) AS one) AS cleared
       CROSS JOIN numbers(${Math.ceil(options.rows / stores.config.INLET_CLICKHOUSE_URLS.length)}) AS rows
       SETTINGS max_partitions_per_insert_block = 0, optimize_on_insert = 0`,
    );
  for (let n = 0; n < audiences.length; n += clearsPerRound) await reload(audiences.slice(n, n + clearsPerRound));
  const liveRows = await storedRows(stores);
  const start = performance.now();
  const secondsSince = (from: number): number => (performance.now() - from) / 1000;
  const mutations = new Set<string>();
  const samples: Sample[] = [];
  let clears = 0;
  const takeSample = async (): Promise<Sample> => {
    for (const id of await mutationIds(stores)) mutations.add(id);
    const sample = {
      seconds: Math.round(secondsSince(start)),
      clears,
      deadRows: Math.max(0, (await storedRows(stores)) - liveRows),
      due: await count(stores, 'SELECT count(*) FROM dead_generation WHERE purged_at IS NULL AND check_at <= now()'),
      parts: await sumOnShards(stores, `SELECT count() FROM system.parts WHERE ${isTable} AND active`),
      mutations: mutations.size,
    };
    samples.push(sample);
    options.onSample?.(sample);
    return sample;
  };
  let sampledAt = performance.now();
  while (clears < options.clears) {
    const some = Array.from(
      { length: Math.min(clearsPerRound, options.clears - clears, audiences.length) },
      (_, n) => audiences[(clears + n) % audiences.length],
    ).filter((audience) => audience !== undefined);
    await runConcurrently(some, concurrentClears, async (audience) => {
      const { partnerId, id } = audience;
      await clear(deps, partnerId, id);
      audience.generation += 1;
    });
    await reload(some);
    clears += some.length;
    if (secondsSince(sampledAt) >= options.sampleSeconds) {
      await takeSample();
      sampledAt = performance.now();
    }
  }
  const clearSeconds = secondsSince(start);
  const end = performance.now();
  let sample = await takeSample();
  while ((sample.deadRows > 0 || sample.due > 0) && secondsSince(end) < options.drainSeconds) {
    await pause(1_000);
    sample = await takeSample();
  }
  const isDrained = sample.deadRows === 0 && sample.due === 0;
  return {
    samples,
    clearSeconds,
    drainSeconds: isDrained ? secondsSince(end) : Number.POSITIVE_INFINITY,
    purgedGenerations: await count(stores, 'SELECT count(*) FROM dead_generation WHERE purged_rows > 0'),
  };
}

/** On an overloaded machine, a clear may exceed the statement timeout while it waits for the lane's lock. */
async function clear(deps: Wired, partnerId: number, audienceId: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const isFound = await deps.audiences.clear({ partnerId, customerId: null }, audienceId);
      if (!isFound) throw new TypeError(`no audience ${audienceId}`);
      return;
    } catch (error) {
      if (error instanceof TypeError || attempt === 5) throw error;
      await pause(1_000);
    }
  }
}

type Audience = { readonly id: number; readonly partnerId: number; generation: number };

async function createAudiences(stores: TestStores, deps: Wired, partners: number, total: number): Promise<Audience[]> {
  const partnerIds: number[] = [];
  for (let n = 0; n < partners; n++) partnerIds.push((await newBarePartner(deps)).id);
  return withDatabase(stores, async (client) => {
    const { rows } = await client.query<{ id: string; partner_id: string }>(
      `INSERT INTO audience (partner_id, name) SELECT ($1::bigint[])[1 + n % $2], 'a' FROM generate_series(0, $3::int - 1) AS n
       RETURNING id, partner_id`,
      [partnerIds, partners, total],
    );
    return rows.map((row) => ({ id: Number(row.id), partnerId: Number(row.partner_id), generation: 0 }));
  });
}

const isTable = `database = currentDatabase() AND table = 'audience_devices_local'`;

async function sumOnShards(stores: TestStores, query: string): Promise<number> {
  return (await selectOnShards(stores, query)).reduce((sum, line) => sum + Number(line), 0);
}

function storedRows(stores: TestStores): Promise<number> {
  return sumOnShards(stores, `SELECT sum(rows) FROM system.parts WHERE ${isTable} AND active`);
}

/** ClickHouse remembers the last hundred mutations of a table. */
function mutationIds(stores: TestStores): Promise<string[]> {
  return selectOnShards(stores, `SELECT DISTINCT mutation_id FROM system.mutations WHERE ${isTable}`);
}

async function count(stores: TestStores, query: string): Promise<number> {
  return withDatabase(stores, async (client) => Number((await client.query<{ count: string }>(query)).rows[0]?.count));
}
