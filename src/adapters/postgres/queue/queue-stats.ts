import { type ClientBase, Pool } from 'pg';
import { z } from 'zod';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { outliveConnections } from '../db/connect.ts';
import { fileQueue, laneQueue } from './tokens.ts';
import { livenessSessionName } from './worker-liveness.ts';

const names = [
  'workers',
  'openJobs',
  'oldestSeconds',
  'pendingJobs',
  'oldestPendingSeconds',
  'runningJobs',
  'oldestRunningSeconds',
  /** Age of the oldest canceled job whose staging tables are not yet dropped. */
  'oldestCleaningSeconds',
  'lanesOpen',
  'lanesActive',
  /** Lanes that stay idle until the next requeue. */
  'lanesWithoutToken',
  /** Time since the last completed file or step, in the running job that has been idle longest. */
  'silentSeconds',
  'filesInFlight',
  /** Tokens that a worker could claim now. */
  'readyTokens',
  /** Tokens that are delayed because a dependency is down or an attempt failed. */
  'waitingTokens',
] as const;

/** A sum or an age over no rows is null. */
const rowSchema = z.record(z.enum(names), z.coerce.number().transform(Math.round));

export type QueueStats = Readonly<z.infer<typeof rowSchema>>;

/** Reads through a database function, because the API role cannot see the jobs of all partners. */
export async function selectQueueStats(client: ClientBase): Promise<QueueStats> {
  const { rows } = await client.query<{ waits: unknown }>('SELECT what_waits($1, $2, $3) AS waits', [
    laneQueue,
    fileQueue,
    `${livenessSessionName} %`,
  ]);
  return rowSchema.parse(rows[0]?.waits);
}

export type QueueStatsReader = {
  /** Fails within seconds if PostgreSQL does not respond. */
  readonly read: () => Promise<QueueStats>;
  readonly close: () => Promise<void>;
};

const timeoutMs = 3_000;

/** Uses its own connection, so that stats are available while the service uses all others. */
export function queueStatsReader(options: { url: Secret; name: string; log: Log }): QueueStatsReader {
  const pool = new Pool({
    connectionString: options.url.reveal(),
    application_name: options.name,
    max: 1,
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
  });
  outliveConnections(pool, options.log);
  return {
    read: async () => {
      const client = await pool.connect();
      try {
        const found = await selectQueueStats(client);
        client.release();
        return found;
      } catch (error) {
        // A late answer may still arrive on this connection, so it must not be reused.
        client.release(true);
        throw error;
      }
    },
    close: () => pool.end(),
  };
}
