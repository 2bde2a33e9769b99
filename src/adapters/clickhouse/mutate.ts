import type { ClickHouseSettings } from '@clickhouse/client';
import { setTimeout as pause } from 'node:timers/promises';
import { coalesce } from '../coalesce.ts';
import { type Server, type Shard, selectNumber, selectRows } from './connect.ts';

const firstPauseMs = 20;
const longestPauseMs = 1_000;

/**
 * One command of a mutation. `partition` is empty if the command applies to all partitions. `versions` contains the
 * version that the parts of each partition must reach. A part has been rewritten when its own version is at least that
 * high. In a table that is not replicated, a single entry with an empty ID applies to all partitions.
 */
type Mutation = {
  mutation_id: string;
  partition: string;
  versions: readonly (readonly [string, string])[];
  failed_partition: string;
  latest_fail_reason: string;
};

type Statement = {
  readonly query: string;
  readonly query_params: Record<string, unknown>;
  /** The partitions whose rows the mutation changes. */
  readonly partitions: readonly (number | string)[];
  readonly options?: StatementOptions;
};

export type StatementOptions = { readonly query_id: string; readonly clickhouse_settings: ClickHouseSettings };

type Deletion = Statement & {
  /** A query of the form `SELECT toString(…) AS number`. The number is 0 if no row is left. */
  readonly left: string;
};

/** With more partitions than this, the mutation has a single command instead of one per partition. */
const maxPartitionCommands = 16;

/**
 * The commands of a mutation that deletes rows in these partitions. Every part goes through all commands, so for many
 * partitions a single command that searches all parts is cheaper. Partitions cannot be query parameters.
 */
export function deletesIn(partitions: readonly number[], condition: string): readonly string[] {
  if (partitions.length > maxPartitionCommands) return [`DELETE WHERE ${condition}`];
  return partitions.map((id) => {
    if (!Number.isSafeInteger(id) || id < 0) throw new TypeError(`${id} is not the ID of a partition`);
    return `DELETE IN PARTITION ID '${id}' WHERE ${condition}`;
  });
}

/**
 * Runs a mutation on one shard and returns when no part on any replica contains the old rows. ClickHouse can wait for a
 * mutation itself (`mutations_sync`), but a purge test that used this setting once hung for 15 minutes. The suspected
 * but unproven cause is that only a rewritten part wakes the waiting statement. The statement would then miss the end
 * of the mutation when the last part is dropped as empty. Polling cannot miss the end, and a poll takes a millisecond
 * while few mutations are running.
 *
 * An interrupted attempt may have left a mutation of these partitions that is still running. The next attempt waits for
 * that mutation first. Before this wait existed, every attempt added a mutation, and a shard once had 340 mutations and
 * was busy reporting their progress.
 *
 * Mutations of other partitions are ignored, so that one partner's failing or long mutation cannot delay another
 * partner's delete. ClickHouse reports a mutation as done only when every part of the table has a later version. This
 * function therefore compares the versions of the parts in these partitions instead.
 */
export async function mutate(shard: Shard, table: string, deletion: Deletion, signal: AbortSignal): Promise<void> {
  const untilAllApplied = (): Promise<unknown> =>
    Promise.all(shard.map((server) => untilApplied(server, table, deletion.partitions, { signal })));
  await untilAllApplied();
  await startMutation(shard, deletion, signal);
  for (let ms = firstPauseMs; ms <= longestPauseMs; ms *= 1.5) {
    await untilAllApplied();
    // A mutation that was started on another replica appears on this replica after a short delay.
    if (shard.length === 1 || (await areDeleted(shard, deletion))) return;
    await pause(ms, undefined, { signal });
  }
  throw new Error(`A mutation of ${table} has left rows on a replica.`);
}

/** Starts a mutation on one replica. ClickHouse applies it to the others, each of which evaluates the condition itself. */
export async function startMutation(
  shard: Shard,
  { query, query_params, options }: Statement,
  signal?: AbortSignal,
): Promise<void> {
  const stoppable = signal ? { abort_signal: signal } : {};
  const settings: ClickHouseSettings = { mutations_sync: '0', allow_nondeterministic_mutations: 1 };
  const clickhouse_settings = { ...settings, ...options?.clickhouse_settings };
  await shard[0].command({ query, query_params, ...options, clickhouse_settings, ...stoppable });
}

/** Whether the rows are deleted on every replica. */
export async function areDeleted(shard: Shard, { left, query_params }: Deletion): Promise<boolean> {
  const rows = await Promise.all(shard.map((server) => selectNumber(server, { query: left, query_params })));
  return rows.every((number) => number === 0);
}

/**
 * Waits until all open mutations of these partitions have rewritten every part in them. Returns false if that takes
 * longer than `maxMs`.
 */
export async function untilApplied(
  shard: Server,
  table: string,
  partitions: readonly (number | string)[],
  { signal, maxMs = Number.POSITIVE_INFINITY }: { readonly signal?: AbortSignal; readonly maxMs?: number } = {},
): Promise<boolean> {
  const end = performance.now() + maxMs;
  const ids = partitions.map(String);
  const { poll, watch, unwatch } = watcherOf(shard, table);
  watch(ids);
  try {
    for (let ms = firstPauseMs; ; ms = Math.min(ms * 1.5, longestPauseMs)) {
      const pending = pendingIn(await poll(), ids);
      if (pending.length === 0) return true;
      // ClickHouse applies several mutations to a part at once. If one of them fails, ClickHouse reports the failure
      // for all of them, including mutations of other partitions.
      const failed = pending.find(({ failed_partition: id }) => id !== '' && ids.includes(id));
      if (failed) throw new Error(`mutation ${failed.mutation_id} of ${table}: ${failed.latest_fail_reason}`);
      if (performance.now() >= end) return false;
      await pause(ms, undefined, signal ? { signal } : {});
    }
  } finally {
    unwatch(ids);
  }
}

/** Mutations that apply to one of the partitions and have not yet rewritten every part in it. */
function pendingIn({ open, versions }: Progress, ids: readonly string[]): Mutation[] {
  const versionIn = (id: string): number => versions.get(id) ?? 0;
  return open.filter(({ partition, versions: required }) => {
    const requiredIn = (id: string): number => Number(required.find(([name]) => name === id || name === '')?.[1] ?? 0);
    const affected = partition === '' ? ids : ids.filter((id) => id === partition);
    return affected.some((id) => versionIn(id) < requiredIn(id));
  });
}

type Progress = {
  readonly open: readonly Mutation[];
  /** The lowest data version of the parts in each watched partition. Infinite for a partition without parts. */
  readonly versions: ReadonlyMap<string, number>;
};

type Watcher = {
  readonly poll: () => Promise<Progress>;
  readonly watch: (ids: readonly string[]) => void;
  readonly unwatch: (ids: readonly string[]) => void;
};

const watchers = new WeakMap<Server, Map<string, Watcher>>();

/**
 * The cost of a poll grows with the number of running mutations and the number of parts, so all waiting calls in this
 * process share one poll.
 */
function watcherOf(shard: Server, table: string): Watcher {
  const ofShard = watchers.get(shard) ?? new Map<string, Watcher>();
  watchers.set(shard, ofShard);
  const watcher = ofShard.get(table) ?? createWatcher(shard, table);
  ofShard.set(table, watcher);
  return watcher;
}

function createWatcher(shard: Server, table: string): Watcher {
  const calls = new Map<string, number>();
  const change = (ids: readonly string[], by: 1 | -1): void => {
    for (const id of ids) {
      const left = (calls.get(id) ?? 0) + by;
      if (left > 0) calls.set(id, left);
      else calls.delete(id);
    }
  };
  return {
    poll: coalesce(() => selectProgress(shard, table, [...calls.keys()])),
    watch: (ids) => change(ids, 1),
    unwatch: (ids) => change(ids, -1),
  };
}

async function selectProgress(shard: Server, table: string, ids: readonly string[]): Promise<Progress> {
  const open = await selectRows<Mutation>(
    shard,
    `SELECT mutation_id, extract(command, 'PARTITION ID \\'([^\\']*)\\'') AS partition,
       arrayZip(block_numbers.partition_id, arrayMap(number -> toString(number), block_numbers.number)) AS versions,
       splitByChar('_', latest_failed_part)[1] AS failed_partition, latest_fail_reason
     FROM system.mutations
     WHERE database = currentDatabase() AND table = {table: String} AND NOT is_done AND NOT is_killed`,
    { table },
  );
  const versions = new Map(ids.map((id) => [id, Number.POSITIVE_INFINITY]));
  if (open.length === 0) return { open, versions };
  const parts = await selectRows<{ id: string; version: string }>(
    shard,
    `SELECT partition_id AS id, toString(min(data_version)) AS version FROM system.parts
     WHERE active AND database = currentDatabase() AND table = {table: String} AND partition_id IN ({ids: Array(String)})
     GROUP BY partition_id`,
    { table, ids },
  );
  for (const { id, version } of parts) versions.set(id, Number(version));
  return { open, versions };
}
