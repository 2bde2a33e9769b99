import { setTimeout as pause } from 'node:timers/promises';
import { oneAtATime } from '../coalesce.ts';
import type { Shard } from './connect.ts';

const firstPauseMs = 20;
const longestPauseMs = 1_000;

type Mutation = { mutation_id: string; command: string; latest_fail_reason: string };

type Statement = {
  readonly query: string;
  readonly query_params: Record<string, unknown>;
  /** Where it changes rows. */
  readonly partitions: readonly number[];
};

/**
 * Changes rows of a table on one shard and returns when no part holds what they were before. The engine could wait by
 * itself (`mutations_sync`), but a test of purges once stood still for 15 minutes. We suspect that wait and have not proved
 * it: if it looks again only when it has rewritten a part, it misses the end when the last one is dropped instead, as empty
 * parts are. Asking cannot miss it, and costs a millisecond while little is open.
 *
 * An attempt that broke off may have left a mutation of these partitions, which goes on without it. The next one waits for
 * it: with one more for each attempt, and many deletes, a shard once had 340 of them and did nothing but answer how they were.
 */
export async function mutate(shard: Shard, table: string, statement: Statement, signal?: AbortSignal): Promise<void> {
  const { partitions, ...command } = statement;
  const stoppable = signal ? { abort_signal: signal } : {};
  const names = partitions.map((id) => `PARTITION ID '${id}'`);
  const left = (await openMutations(shard, table)).filter((open) => names.some((name) => open.command.includes(name)));
  await untilDone(shard, table, left, signal);
  await shard.command({ ...command, clickhouse_settings: { mutations_sync: '0' }, ...stoppable });
  // Ours and those before it; later ones are not waited for.
  await untilDone(shard, table, await openMutations(shard, table), signal);
}

async function untilDone(shard: Shard, table: string, mutations: Mutation[], signal?: AbortSignal): Promise<void> {
  const ids = new Set(mutations.map(({ mutation_id }) => mutation_id));
  let open = mutations;
  for (let ms = firstPauseMs; open.length > 0; ms = Math.min(ms * 1.5, longestPauseMs)) {
    const failed = open.find(({ latest_fail_reason }) => latest_fail_reason !== '');
    if (failed) throw new Error(`mutation ${failed.mutation_id} of ${table}: ${failed.latest_fail_reason}`);
    await pause(ms, undefined, signal ? { signal } : {});
    open = (await openMutations(shard, table)).filter(({ mutation_id }) => ids.has(mutation_id));
  }
}

const looks = new WeakMap<Shard, Map<string, () => Promise<Mutation[]>>>();

/** The answer costs the engine more the more is open: all who wait in this process ask one question at a time. */
function openMutations(shard: Shard, table: string): Promise<Mutation[]> {
  const ofShard = looks.get(shard) ?? new Map<string, () => Promise<Mutation[]>>();
  looks.set(shard, ofShard);
  const look = ofShard.get(table) ?? oneAtATime(() => selectOpen(shard, table));
  ofShard.set(table, look);
  return look();
}

async function selectOpen(shard: Shard, table: string): Promise<Mutation[]> {
  const result = await shard.query({
    query: `SELECT mutation_id, command, latest_fail_reason FROM system.mutations
      WHERE database = currentDatabase() AND table = {table: String} AND NOT is_done AND NOT is_killed`,
    query_params: { table },
    format: 'JSONEachRow',
  });
  return result.json<Mutation>();
}
