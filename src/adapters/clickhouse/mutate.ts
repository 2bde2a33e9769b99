import { setTimeout as pause } from 'node:timers/promises';
import { coalesce } from '../coalesce.ts';
import type { Shard } from './connect.ts';

const firstPauseMs = 20;
const longestPauseMs = 1_000;

type Mutation = { mutation_id: string; command: string; latest_fail_reason: string };

type Statement = {
  readonly query: string;
  readonly query_params: Record<string, unknown>;
  /** The partitions whose rows the mutation changes. */
  readonly partitions: readonly number[];
};

/**
 * Runs a mutation on one shard and returns when no part contains the old rows. ClickHouse can wait for a mutation
 * itself (`mutations_sync`), but a purge test once hung for 15 minutes. The suspected cause, which is not proven, is
 * that only a rewritten part wakes the waiting statement. The statement would then miss the end of the mutation when
 * the last part is dropped as empty. Polling cannot miss the end, and a poll takes a millisecond while few mutations
 * are running.
 *
 * An interrupted attempt may have left a mutation of these partitions that is still running. The next attempt waits for
 * that mutation first. When every attempt still added a mutation, a shard once had 340 mutations and was busy reporting
 * their progress.
 */
export async function mutate(shard: Shard, table: string, statement: Statement, signal?: AbortSignal): Promise<void> {
  const { partitions, ...command } = statement;
  const stoppable = signal ? { abort_signal: signal } : {};
  const names = partitions.map((id) => `PARTITION ID '${id}'`);
  const earlier = (await openMutations(shard, table)).filter((open) =>
    names.some((name) => open.command.includes(name)),
  );
  await untilDone(shard, table, earlier, signal);
  await shard.command({ ...command, clickhouse_settings: { mutations_sync: '0' }, ...stoppable });
  // Wait for this mutation and earlier ones, but not for later ones.
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

const polls = new WeakMap<Shard, Map<string, () => Promise<Mutation[]>>>();

/**
 * The cost of the query grows with the number of running mutations, so all waiting calls in this process share one
 * query.
 */
function openMutations(shard: Shard, table: string): Promise<Mutation[]> {
  const ofShard = polls.get(shard) ?? new Map<string, () => Promise<Mutation[]>>();
  polls.set(shard, ofShard);
  const poll = ofShard.get(table) ?? coalesce(() => selectOpen(shard, table));
  ofShard.set(table, poll);
  return poll();
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
