import { setTimeout as pause } from 'node:timers/promises';
import type { Shard } from './connect.ts';

const firstPauseMs = 20;
const longestPauseMs = 1_000;

type Mutation = { mutation_id: string; latest_fail_reason: string };

/**
 * Changes rows of a table on one shard and returns when no part holds what they were before. The engine could wait by
 * itself (`mutations_sync`), but a test of purges once stood still for 15 minutes. We suspect that wait and have not proved
 * it: if it looks again only when it has rewritten a part, it misses the end when the last one is dropped instead, as empty
 * parts are. Asking cannot miss it, and costs a millisecond.
 */
export async function mutate(
  shard: Shard,
  table: string,
  statement: { query: string; query_params: Record<string, unknown> },
  signal?: AbortSignal,
): Promise<void> {
  const stoppable = signal ? { abort_signal: signal } : {};
  await shard.command({ ...statement, clickhouse_settings: { mutations_sync: '0' }, ...stoppable });
  // Ours and those before it; later ones are not waited for.
  let open = await openMutations(shard, table);
  const ids = new Set(open.map(({ mutation_id }) => mutation_id));
  for (let ms = firstPauseMs; open.length > 0; ms = Math.min(ms * 1.5, longestPauseMs)) {
    const failed = open.find(({ latest_fail_reason }) => latest_fail_reason !== '');
    if (failed) throw new Error(`mutation ${failed.mutation_id} of ${table}: ${failed.latest_fail_reason}`);
    await pause(ms, undefined, signal ? { signal } : {});
    open = (await openMutations(shard, table)).filter(({ mutation_id }) => ids.has(mutation_id));
  }
}

async function openMutations(shard: Shard, table: string): Promise<Mutation[]> {
  const result = await shard.query({
    query: `SELECT mutation_id, latest_fail_reason FROM system.mutations
      WHERE database = currentDatabase() AND table = {table: String} AND NOT is_done AND NOT is_killed`,
    query_params: { table },
    format: 'JSONEachRow',
  });
  return result.json<Mutation>();
}
