import { memoryOfProcess } from '../test/support/memory.ts';
import { commandOnShards, selectOnShards } from '../test/support/shard-tables.ts';
import type { Running } from './service.ts';

const mebibyte = 1024 ** 2;

/** The peak memory, in MiB, of any Inlet statement on any shard since the given time, as recorded in the query log. */
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

/** The worker's peak memory during a run, in MiB, sampled every 50 ms. */
export async function workerPeak({ service }: Running, run: () => Promise<unknown>): Promise<number> {
  const pid = service.worker.pid ?? 0;
  let peak = 0;
  const sampling = setInterval(() => (peak = Math.max(peak, memoryOfProcess(pid).now)), 50);
  try {
    await run();
  } finally {
    clearInterval(sampling);
  }
  return Math.round(peak / mebibyte);
}
