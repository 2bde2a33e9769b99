import { createClient } from '@clickhouse/client';
import { readFileSync } from 'node:fs';
import type { Config } from '../../src/entry/config.ts';

const ticksPerSecond = 100; // sysconf(_SC_CLK_TCK) on Linux

/** Returns the user and system time of a process so far, in seconds. */
export function cpuOfProcess(pid: number): number {
  const fields = fieldsOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Returns the user and system time of all child processes that have exited, in seconds. */
export function cpuOfEndedChildren(): number {
  const fields = fieldsOf(process.pid);
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}

/** The process name is in parentheses and can contain spaces, so the fields are counted from the end of the name. */
function fieldsOf(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
}

/** Returns the CPU time that ClickHouse reports for a database's statements on all shards, in seconds. */
export async function cpuOfEngine(config: Config): Promise<number> {
  let seconds = 0;
  for (const url of config.INLET_CLICKHOUSE_URLS.flat()) {
    const client = createClient({ url: url.reveal() });
    await client.command({ query: 'SYSTEM FLUSH LOGS' });
    const result = await client.query({
      query: `
        SELECT sum(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']) / 1e6 AS seconds
        FROM system.query_log WHERE type = 'QueryFinish' AND current_database = {database: String}`,
      query_params: { database: config.INLET_CLICKHOUSE_DATABASE },
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ seconds: number }>();
    seconds += row?.seconds ?? 0;
    await client.close();
  }
  return seconds;
}
