import type { PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../ports/observability.ts';
import type { ChangeFeed, RecordMark } from '../../ports/records.ts';
import type { Database } from './db/tables.ts';

/** The channel that the triggers of migrations/postgres/*-following.sql notify. */
const channel = 'inlet_records';

const reconnectMs = 500;
/** A server that hangs or is cut off sends nothing, so it is pinged periodically. */
const askEveryMs = 10_000;
const closeMs = 2_000;

/** One connection per process, opened with the first subscriber. */
export function postgresChangeFeed(options: {
  readonly url: Secret;
  readonly name: string;
  readonly log: Log;
}): ChangeFeed & { readonly close: () => Promise<void> } {
  const { log } = options;
  const subscribers: Parameters<ChangeFeed['subscribe']>[0][] = [];
  const closing = new AbortController();
  const state: { session: Client | null; life: Promise<void> | null } = { session: null, life: null };
  const tell = (partnerId: PartnerId | null): void => {
    for (const onChange of subscribers) onChange(partnerId);
  };

  /** Runs one connection until it ends. */
  const liveOnce = async (): Promise<void> => {
    const session = new Client({
      connectionString: options.url.reveal(),
      application_name: options.name,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
    });
    const over = new AbortController();
    session.once('end', () => over.abort());
    session.on('error', (error) => log.warn({ error: error.message }, 'postgres connection lost'));
    session.on('notification', ({ payload }) => tell(Number(payload)));
    try {
      await session.connect();
      await session.query(`LISTEN ${channel}`);
      state.session = session;
      tell(null);
      while (!over.signal.aborted) {
        await pause(askEveryMs, undefined, { signal: over.signal }).catch(() => undefined);
        if (!over.signal.aborted) await session.query('SELECT 1');
      }
    } catch (error) {
      if (!closing.signal.aborted) log.warn({ err: error }, 'change feed disconnected');
      await end(session);
    } finally {
      state.session = null;
    }
  };
  const live = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await liveOnce();
      await pause(reconnectMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };

  return {
    subscribe: (onChange) => {
      subscribers.push(onChange);
      state.life ??= live();
    },
    isListening: () => state.session !== null,
    close: async () => {
      closing.abort();
      if (state.session) await end(state.session);
      await state.life;
    },
  };
}

/** Does not wait for an unresponsive server. */
async function end(session: Client): Promise<void> {
  await Promise.race([session.end().catch(() => undefined), pause(closeMs)]);
  session.emit('end');
}

// Reads the marks of any partner's records in one statement; a mark contains no data. See migrations/postgres/*-following.sql.

export async function selectImportLogMarks(db: Database, ids: readonly number[]): Promise<RecordMark[]> {
  const { rows } = await sql<RecordMark>`
    SELECT id, is_final AS "isFinal", mark FROM import_log_marks(${ids}::bigint[])`.execute(db);
  return rows;
}

export async function selectAudienceMarks(db: Database, ids: readonly number[]): Promise<RecordMark[]> {
  const { rows } = await sql<RecordMark>`
    SELECT id, is_final AS "isFinal", mark FROM audience_marks(${ids}::bigint[])`.execute(db);
  return rows;
}
