import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import { Pool, TypeOverrides, types } from 'pg';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../ports/log.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;
export type Tx = Transaction<Tables>;

/** Ids and counts stay far below 2^53, so that a number is exact; anything above is refused, not rounded. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is too large for a number`);
  return value;
}

const typeOverrides = new TypeOverrides();
typeOverrides.setTypeParser(types.builtins.INT8, parseInt8);

export function connectPostgres(options: { url: Secret; name: string; maxConnections: number; log: Log }): Database {
  const pool = new Pool({
    connectionString: options.url.reveal(),
    application_name: options.name,
    max: options.maxConnections,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
    types: typeOverrides,
  });
  // Without a listener an idle connection that PostgreSQL closes would end the process.
  pool.on('error', (error) => options.log.warn({ error: error.message }, 'postgres connection lost'));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
