import { memoryOfProcess } from '../test/support/memory.ts';
import { selectOnShards, commandOnShards } from '../test/support/below-the-api.ts';
import type { Running } from './service.ts';

const mebibyte = 1024 ** 2;

/** The most that a statement of Inlet has taken since then on any shard, as the engine counts it, in MiB. */
export async function enginePeak({ stores }: Running, since: Date): Promise<number> {
  await commandOnShards(stores, 'SYSTEM FLUSH LOGS');
  const peaks = await selectOnShards(
    stores,
    `SELECT max(memory_usage) FROM system.query_log
     WHERE current_database = '${stores.database}' AND startsWith(initial_query_id, 'inlet-')
       AND event_time_microseconds >= fromUnixTimestamp64Milli(${since.getTime()})`,
  );
  return Math.round(Math.max(...peaks.map(Number)) / mebibyte);
}

/** The most that the worker has in memory while something runs, looked at every 50 ms, in MiB. */
export async function workerPeak({ service }: Running, run: () => Promise<unknown>): Promise<number> {
  const pid = service.worker.pid ?? 0;
  let most = 0;
  const looking = setInterval(() => (most = Math.max(most, memoryOfProcess(pid).now)), 50);
  try {
    await run();
  } finally {
    clearInterval(looking);
  }
  return Math.round(most / mebibyte);
}
