import { Pool, type ClientBase } from 'pg';
import { z } from 'zod';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../ports/log.ts';
import { outliveConnections } from './connect.ts';
import { fileQueue, laneQueue } from './dispatch.ts';
import { presenceName } from './presence.ts';

const names = [
  'workers',
  'openJobs',
  'oldestSeconds',
  'pendingJobs',
  'oldestPendingSeconds',
  'runningJobs',
  'oldestRunningSeconds',
  /** Of a cancelled job, until what it had staged is removed. */
  'oldestCleaningSeconds',
  'lanesOpen',
  'lanesActive',
  /** Lanes that nobody will move before the next sweep. */
  'lanesWithoutToken',
  /** How long ago the running job of a lane, the one that stands longest, had a file or a step ended. */
  'silentSeconds',
  'filesInFlight',
  /** Tokens that a worker could take now. */
  'readyTokens',
  /** Tokens that wait for a time: a server was away, or an attempt has failed. */
  'waitingTokens',
] as const;

/** Where there is nothing, a sum or an age is null. */
const rowSchema = z.record(z.enum(names), z.coerce.number().transform(Math.round));

export type WhatWaits = Readonly<z.infer<typeof rowSchema>>;

/** For an operator, in one look. It reads what is open and nothing that has ended. */
export async function findWhatWaits(client: ClientBase): Promise<WhatWaits> {
  const { rows } = await client.query<Record<string, unknown>>(`
    WITH open AS MATERIALIZED (
      SELECT partner_id, status, updated_at, extract(epoch FROM now() - created_at) AS age
      FROM job WHERE status IN (0, 1)
      UNION ALL
      SELECT partner_id, status, updated_at, extract(epoch FROM now() - created_at)
      FROM job WHERE cancelled AND cleaned_at IS NULL AND status NOT IN (0, 1)
    ), token AS MATERIALIZED (
      SELECT name, singleton_key, state, start_after FROM pgboss.job
      WHERE name IN ('${laneQueue}', '${fileQueue}') AND policy = 'exclusive' AND state <= 'active'
    )
    SELECT
      (SELECT count(*) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE '${presenceName} %') AS "workers",
      count(*) AS "openJobs",
      max(age) AS "oldestSeconds",
      count(*) FILTER (WHERE status = 0) AS "pendingJobs",
      max(age) FILTER (WHERE status = 0) AS "oldestPendingSeconds",
      count(*) FILTER (WHERE status = 1) AS "runningJobs",
      max(age) FILTER (WHERE status = 1) AS "oldestRunningSeconds",
      max(age) FILTER (WHERE status > 1) AS "oldestCleaningSeconds",
      count(DISTINCT partner_id) AS "lanesOpen",
      (SELECT count(*) FROM token WHERE name = '${laneQueue}' AND state = 'active') AS "lanesActive",
      (SELECT count(DISTINCT partner_id) FROM open o JOIN partner p ON p.id = o.partner_id
       WHERE NOT EXISTS (SELECT FROM token WHERE name = '${laneQueue}' AND singleton_key = o.partner_id::text)
         AND NOT EXISTS (SELECT FROM job_file f JOIN job j ON j.id = f.job_id
           JOIN token t ON t.name = '${fileQueue}' AND t.singleton_key = f.batch_id::text
           WHERE j.partner_id = o.partner_id AND j.status = 1 AND f.status IN (0, 1))) AS "lanesWithoutToken",
      extract(epoch FROM now() - min(updated_at) FILTER (WHERE status = 1)) AS "silentSeconds",
      (SELECT count(*) FROM token JOIN job_file f ON f.batch_id = token.singleton_key::bigint
       WHERE name = '${fileQueue}' AND state = 'active' AND f.status IN (0, 1)) AS "filesInFlight",
      (SELECT count(*) FROM token WHERE state < 'active' AND start_after <= now()) AS "readyTokens",
      (SELECT count(*) FROM token WHERE state < 'active' AND start_after > now()) AS "waitingTokens"
    FROM open`);
  return rowSchema.parse(rows[0]);
}

export type WaitsReader = {
  /** Fails within some seconds when PostgreSQL does not answer. */
  readonly read: () => Promise<WhatWaits>;
  readonly close: () => Promise<void>;
};

const patienceMs = 3_000;

/** With a connection of its own: a look must be possible when the service uses all of the others. */
export function readWhatWaits(options: { url: Secret; name: string; log: Log }): WaitsReader {
  const pool = new Pool({
    connectionString: options.url.reveal(),
    application_name: options.name,
    max: 1,
    connectionTimeoutMillis: patienceMs,
    statement_timeout: patienceMs,
    query_timeout: patienceMs,
    keepAlive: true,
  });
  outliveConnections(pool, options.log);
  return {
    read: async () => {
      const client = await pool.connect();
      try {
        const found = await findWhatWaits(client);
        client.release();
        return found;
      } catch (error) {
        // The answer may still come on this connection: nobody else may get it.
        client.release(true);
        throw error;
      }
    },
    close: () => pool.end(),
  };
}
