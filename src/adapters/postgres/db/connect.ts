import { Kysely, PostgresDialect } from 'kysely';
import { Client, Pool, type PoolClient, TypeOverrides, types } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { isOutdatedPlan, preparedName } from './prepared.ts';
import { callersPool } from './row-security.ts';
import type { Database, Tables } from './tables.ts';

/** Ids and counts stay far below 2^53, so that a number is exact; anything above is refused, not rounded. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is too large for a number`);
  return value;
}

const typeOverrides = new TypeOverrides();
typeOverrides.setTypeParser(types.builtins.INT8, parseInt8);

/** Of a prepared statement; undefined for one that is not to be prepared. */
type NameOf = (text: string) => string | undefined;

type ConnectOptions = {
  readonly url: Secret;
  readonly name: string;
  /** Who the audit log says it was, where the name of the process does not do. */
  readonly actor?: string | undefined;
  readonly maxConnections: number;
  /** How long a statement may take. */
  readonly statementMs?: number;
  readonly connectionMs?: number;
  readonly log: Log;
};

/** A server that stands still does not look at its own clock: a little later we look at ours. */
const graceMs = 2_000;

/** How long a connection is waited for, be it one that others have. */
const usualConnectionMs = 5_000;

/** For every pool of connections: one whose server stands still must not be waited for for ever. */
export function patience(statementMs: number, connectionMs = usualConnectionMs) {
  return {
    connectionTimeoutMillis: connectionMs,
    statement_timeout: statementMs,
    query_timeout: statementMs + graceMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
  };
}

export const usualStatementMs = 30_000;

export function connectPostgres(options: ConnectOptions): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(options) }) });
}

/** Of those connections, this share is for what is asked before a caller is known, and takes a moment. */
const shareAtTheDoor = 0.25;

/** For the api: what a connection shows depends on who calls. */
export function connectForCallers(options: ConnectOptions): Database {
  const door = Math.max(1, Math.floor(options.maxConnections * shareAtTheDoor));
  const rooms = Math.max(1, options.maxConnections - door);
  const open = (maxConnections: number): Pool => openPool({ ...options, maxConnections }, preparedName);
  const pool = callersPool(open(door), open(rooms), options.connectionMs ?? usualConnectionMs);
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

function openPool(
  { statementMs = usualStatementMs, connectionMs, ...options }: ConnectOptions,
  nameOf: NameOf = () => undefined,
): Pool {
  const pool = new Pool({
    connectionString: options.url.reveal(),
    application_name: options.name,
    ...(options.actor === undefined ? {} : { options: `-c inlet.actor=${options.actor.replaceAll(/[^\w.@-]/g, '_')}` }),
    max: options.maxConnections,
    ...patience(statementMs, connectionMs),
    idle_in_transaction_session_timeout: 30_000,
    types: typeOverrides,
  });
  outliveConnections(pool, options.log);
  pool.on('connect', (client) => watchQueries(client, nameOf));
  return pool;
}

/**
 * A connection that breaks while nobody waits for an answer on it would end the process if nobody listened. The pool listens
 * to those that are not in use; one that breaks between two statements of a transaction needs a listener of its own.
 */
export function outliveConnections(pool: Pool, log: Log): void {
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn({ error: error.message }, 'postgres connection lost'));
  });
  pool.on('error', () => undefined);
}

/**
 * pg gives a query up after its time and keeps the connection, on which the answer may still come: it is closed, so that
 * the pool does not give it to the next one. So is one that holds an outdated plan.
 */
function watchQueries(client: PoolClient, nameOf: NameOf): void {
  if (!(client instanceof Client)) throw new TypeError('the pool made no client');
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  const watched = (...given: unknown[]): unknown => {
    const answer = query(...named(given, nameOf));
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        if (isTimeout(error) || isOutdatedPlan(error)) void client.end().catch(() => undefined);
      });
    }
    return answer;
  };
  Object.assign(client, { query: watched });
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

function named(given: unknown[], nameOf: NameOf): unknown[] {
  const [text, values, ...rest] = given;
  if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0 || rest.length > 0) return given;
  const name = nameOf(text);
  return name === undefined ? given : [{ text, values: values as unknown[], name }];
}
