import { sql } from 'kysely';
import { type ClientBase, Pool } from 'pg';
import { z } from 'zod';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { outliveConnections } from '../db/connect.ts';
import type { Database } from '../db/tables.ts';
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
  /** The age of the oldest canceled job whose staging tables are not dropped yet. */
  'oldestCleaningSeconds',
  'lanesOpen',
  'lanesActive',
  /** Open lanes without a token. They are idle until the next requeue. */
  'lanesWithoutToken',
  /** The time since the last completed file or step, for the running job that has been idle the longest. */
  'silentSeconds',
  'filesInFlight',
  /** Tokens that a worker can claim now. */
  'readyTokens',
  /** Tokens that are delayed because a dependency is down or an attempt failed. */
  'waitingTokens',
  'indexChanges',
  'oldestIndexChangeSeconds',
  'reportRequests',
  'oldestReportRequestSeconds',
  'webhookEvents',
  'oldestWebhookEventSeconds',
  'webhooksFailing',
  'subscriptionObjects',
  'subscriptionListingDelaySeconds',
  'openErasures',
  'oldestErasureSeconds',
  /** Duration of the erasure batch that ended most recently. */
  'lastErasureSeconds',
  /** The time since DROP was last queried successfully. 0 if it is not in use. */
  'dropFetchSeconds',
  /** The age of the archive that has not been completely erased and answered yet. */
  'dropCycleSeconds',
] as const;

/** A sum or an age over no rows is null, which is converted to 0. */
const rowSchema = z.record(z.enum(names), z.coerce.number().transform(Math.round));

export type QueueStats = Readonly<z.infer<typeof rowSchema>>;

const workersAreNamed = `${livenessSessionName} %`;

/** Each function belongs to one part of Inlet, and returns some of the names. */
const otherWaits =
  'index_waits() || report_waits() || webhook_waits() || subscription_waits() || erasure_waits() || drop_waits()';

/** Calls database functions, because the API role cannot read the jobs of all partners. */
export async function selectQueueStats(client: ClientBase): Promise<QueueStats> {
  const { rows } = await client.query<{ waits: unknown }>(`SELECT what_waits($1, $2, $3) || ${otherWaits} AS waits`, [
    laneQueue,
    fileQueue,
    workersAreNamed,
  ]);
  return rowSchema.parse(rows[0]?.waits);
}

/** Reads the same statistics through a pool. */
export async function readQueueStats(db: Database): Promise<QueueStats> {
  const { rows } = await sql<{ waits: unknown }>`
    SELECT what_waits(${laneQueue}, ${fileQueue}, ${workersAreNamed}) || ${sql.raw(otherWaits)} AS waits`.execute(db);
  return rowSchema.parse(rows[0]?.waits);
}

export type QueueStatsReader = {
  /** Rejects within seconds if PostgreSQL does not respond. */
  readonly read: () => Promise<QueueStats>;
  readonly close: () => Promise<void>;
};

const timeoutMs = 3_000;

/** Uses a separate connection, so that statistics are available while all other connections are in use. */
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
        // A late response may still arrive on this connection, so the connection must not be reused.
        client.release(true);
        throw error;
      }
    },
    close: () => pool.end(),
  };
}
