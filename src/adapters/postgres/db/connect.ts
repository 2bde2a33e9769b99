import { Kysely, PostgresDialect } from 'kysely';
import { type PoolClient, Client, Pool, TypeOverrides, types } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { callersPool } from './row-security.ts';
import type { Database, Tables } from './tables.ts';

/** IDs and counts stay far below 2^53, so a number is exact. Larger values throw instead of being rounded. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is too large for a number`);
  return value;
}

const typeOverrides = new TypeOverrides();
typeOverrides.setTypeParser(types.builtins.INT8, parseInt8);

/** Returns the name of a prepared statement, or undefined for one that is not prepared. */
type NameOf = (text: string) => string | undefined;

type ConnectOptions = {
  readonly url: Secret;
  readonly name: string;
  /** The actor in the audit log, if not the process name. */
  readonly actor?: string | undefined;
  readonly maxConnections: number;
  /** How long a statement may take. */
  readonly statementMs?: number;
  readonly connectionMs?: number;
  readonly log: Log;
};

/** A hung server does not enforce its own timeout, so the client enforces one a little later. */
const graceMs = 2_000;

/** Timeout for getting a connection, either a new one or one from the pool. */
const usualConnectionMs = 5_000;

/** Timeouts for every pool, so that a hung server cannot block a caller forever. */
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

/** Share of the connections for short queries before the caller is authenticated. */
const shareForAuthentication = 0.25;

/** For the API. Row-level security limits each connection to its caller's rows. */
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
 * Without a listener, a connection that breaks between statements would crash the process. The pool listens on idle
 * connections; one that breaks inside a transaction needs its own listener.
 */
export function outliveConnections(pool: Pool, log: Log): void {
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn({ error: error.message }, 'postgres connection lost'));
  });
  pool.on('error', () => undefined);
}

/**
 * After a query timeout, pg keeps the connection although a late answer may still arrive on it. Closes such a connection,
 * and one that holds an outdated plan, so that the pool does not reuse it.
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

/** PostgreSQL keeps a plan per connection and name. Lists of many lengths must not fill its memory. */
const maxNames = 200;
const names = new Map<string, string>();

/**
 * Returns a name under which a connection caches the statement's plan, because planning most of our statements takes
 * longer than running them. Returns undefined for a statement that must be planned each time, such as one with LIMIT.
 * The best plan for such a statement depends on the partner, and a generic plan may scan every partner's rows.
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

/** A migration changed the statement's result type. The plan is unusable, and the connection must be closed. */
function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && error.message === 'cached plan must not change result type';
}
