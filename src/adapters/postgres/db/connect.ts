import { Kysely, PostgresDialect } from 'kysely';
import { type PoolClient, Client, Pool, TypeOverrides, types } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { callersPool } from './row-security.ts';
import type { Database, Tables } from './tables.ts';

/**
 * Parses a bigint as a number. IDs and counts are far below 2^53, so the number is exact. Larger values throw and are
 * never rounded.
 */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is too large for a number`);
  return value;
}

const typeOverrides = new TypeOverrides();
typeOverrides.setTypeParser(types.builtins.INT8, parseInt8);

/** Returns the name of a prepared statement, or undefined if the statement is not prepared. */
type NameOf = (text: string) => string | undefined;

type ConnectOptions = {
  readonly url: Secret;
  readonly name: string;
  /** The actor in the audit log. The default is the process name. */
  readonly actor?: string | undefined;
  readonly maxConnections: number;
  /** The statement timeout. */
  readonly statementMs?: number;
  readonly connectionMs?: number;
  readonly log: Log;
};

/**
 * How long after the server's timeout the client's timeout fires. The client needs its own timeout, because a hung
 * server does not enforce one.
 */
const graceMs = 2_000;

/** The timeout for opening a connection or getting one from the pool. */
const usualConnectionMs = 5_000;

/** Returns the timeouts for every pool. They prevent a hung server from blocking a caller forever. */
export function statementTimeouts(statementMs: number, connectionMs = usualConnectionMs) {
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

/** The share of the connections that is reserved for short queries before authentication. */
const shareForAuthentication = 0.25;

/** Connects an API process. Row-level security limits each connection to its caller's rows. */
export function connectForCallers(options: ConnectOptions): Database {
  const unauthenticated = Math.max(1, Math.floor(options.maxConnections * shareForAuthentication));
  const authenticated = Math.max(1, options.maxConnections - unauthenticated);
  const open = (maxConnections: number): Pool => openPool({ ...options, maxConnections }, preparedName);
  const pool = callersPool(open(unauthenticated), open(authenticated), options.connectionMs ?? usualConnectionMs);
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
    ...statementTimeouts(statementMs, connectionMs),
    idle_in_transaction_session_timeout: 30_000,
    types: typeOverrides,
  });
  outliveConnections(pool, options.log);
  pool.on('connect', (client) => watchQueries(client, nameOf));
  return pool;
}

/**
 * Adds error listeners, so that a broken connection does not crash the process. The pool listens only on idle
 * connections, so a connection that breaks during a transaction needs its own listener.
 */
export function outliveConnections(pool: Pool, log: Log): void {
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn({ error: error.message }, 'postgres connection lost'));
  });
  pool.on('error', () => undefined);
}

/**
 * Closes connections that the pool must not reuse. After a query timeout, pg keeps the connection, although a late
 * response may still arrive on it. A connection with an outdated plan is closed too.
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

/**
 * The maximum number of prepared statements. PostgreSQL keeps a plan per connection and name, and statements that
 * differ only in the length of a list must not fill its memory.
 */
const maxNames = 200;
const names = new Map<string, string>();

/**
 * Returns the name under which a connection caches the statement's plan. Planning most of these statements takes longer
 * than running them. Returns undefined for a statement that must be planned each time, such as one with LIMIT. The best
 * plan for such a statement depends on the partner, and a generic plan may scan the rows of all partners.
 */
export function preparedName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= maxNames || !/^\s*(?:select|insert|update|with)\b/i.test(text) || /\blimit\b/i.test(text))
    return undefined;
  const name = `inlet_${names.size + 1}`;
  names.set(text, name);
  return name;
}

/**
 * Returns true if a migration changed the statement's result type. The plan is then unusable, and the connection must
 * be closed.
 */
function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && error.message === 'cached plan must not change result type';
}
