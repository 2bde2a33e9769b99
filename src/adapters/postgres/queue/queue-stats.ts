import { type ClientBase, Pool } from 'pg';
import { z } from 'zod';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { outliveConnections } from '../db/connect.ts';
import { fileQueue, laneQueue } from './tokens.ts';
import { presenceName } from './worker-liveness.ts';

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

/** For an operator, in one look, by a function of the database: the api may not see the jobs of all partners. */
export async function findWhatWaits(client: ClientBase): Promise<WhatWaits> {
  const { rows } = await client.query<{ waits: unknown }>('SELECT what_waits($1, $2, $3) AS waits', [
    laneQueue,
    fileQueue,
    `${presenceName} %`,
  ]);
  return rowSchema.parse(rows[0]?.waits);
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
