import { fileQueue } from '../../src/adapters/postgres/queue/tokens.ts';
import { lockOfToken, shownLock } from '../../src/adapters/postgres/queue/worker-liveness.ts';
import type { ServiceProcess } from '../support/running-service.ts';
import { type TestStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Returns the attempt number of the running attempt at a job's only file, or 0. */
export async function attemptAt(stores: TestStores, jobId: number): Promise<number> {
  return withDatabase(stores, async (client) => {
    const query = 'SELECT attempt FROM job_file WHERE status = 1 AND job_id = $1';
    return (await client.query<{ attempt: number }>(query, [jobId])).rows[0]?.attempt ?? 0;
  });
}

/** Returns the worker that holds the token of a job's only file. The worker is identified by its advisory lock. */
export async function holderOf(
  stores: TestStores,
  jobId: number,
  workers: Iterable<ServiceProcess>,
): Promise<ServiceProcess> {
  let found: ServiceProcess | undefined;
  await waitUntil('a worker holds the file', async () => {
    const pids = await withDatabase(stores, async (client) => {
      const { rows: held } = await client.query<{ pid: number }>(
        `SELECT split_part(a.application_name, ' ', 2)::int AS pid
         FROM pgboss.job j JOIN pg_locks l ON l.locktype = 'advisory' AND l.mode = 'ShareLock'
           AND ${shownLock} = ${lockOfToken("j.id::text || ':' || j.retry_count")}
         JOIN pg_stat_activity a ON a.pid = l.pid
         WHERE j.name = '${fileQueue}' AND j.state = 'active'
           AND j.singleton_key = (SELECT batch_id::text FROM job_file WHERE job_id = $1)`,
        [jobId],
      );
      return held.map(({ pid }) => pid);
    });
    found = [...workers].find(({ child }) => pids.includes(child.pid ?? 0));
    return found !== undefined && (await attemptAt(stores, jobId)) > 0;
  });
  if (!found) throw new Error('no worker holds the file');
  return found;
}
