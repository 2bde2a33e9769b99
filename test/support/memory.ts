import { createClient } from '@clickhouse/client';
import { readFileSync } from 'node:fs';
import type { Config } from '../../src/entry/config.ts';

/** Returns the current and peak memory of a process, in bytes. */
export function memoryOfProcess(pid: number): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  return { now: kilobytes('VmRSS') * 1024, most: kilobytes('VmHWM') * 1024 };
}

/** Returns the highest peak memory that ClickHouse reports for any statement of a load on any shard, in bytes. */
export async function memoryOfLoads(config: Config): Promise<number> {
  const peaks: number[] = [];
  for (const url of config.INLET_CLICKHOUSE_URLS.flat()) {
    const client = createClient({ url: url.reveal() });
    await client.command({ query: 'SYSTEM FLUSH LOGS' });
    const result = await client.query({
      query: `
        SELECT toString(max(memory_usage)) AS bytes FROM system.query_log
        WHERE current_database = {database: String} AND startsWith(initial_query_id, 'inlet-load-')`,
      query_params: { database: config.INLET_CLICKHOUSE_DATABASE },
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ bytes: string }>();
    peaks.push(Number(row?.bytes ?? 0));
    await client.close();
  }
  return Math.max(...peaks);
}
