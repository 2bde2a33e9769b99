import type { PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../ports/observability.ts';
import type { ChangeFeed, RecordMark } from '../../ports/records.ts';
import { endSession, reconnectUntil, sessionClient } from './db/reconnect.ts';
import type { Database } from './db/tables.ts';

/** Triggers on the tables notify these channels. The payload is the partner's ID. */
const channels = {
  records: 'inlet_records',
  events: 'inlet_events',
  requestedReports: 'inlet_report_requests',
  finishedReports: 'inlet_finished_reports',
} as const;

const reconnectMs = 500;
/** The interval between pings. Without pings, a hung or unreachable server would not be detected. */
const pingEveryMs = 10_000;

type Subscriber = Parameters<ChangeFeed['subscribe']>[0];

/** Opens one connection for all of these feeds when the first subscriber arrives. */
export function postgresChangeFeeds<Name extends keyof typeof channels>(
  options: { readonly url: Secret; readonly name: string; readonly log: Log },
  names: readonly Name[],
): { readonly feedOf: (name: Name) => ChangeFeed; readonly close: () => Promise<void> } {
  const { log } = options;
  const subscribers = new Map<string, Subscriber[]>(names.map((name) => [channels[name], []]));
  const closing = new AbortController();
  const state: { session: Client | null; loop: Promise<void> | null } = { session: null, loop: null };
  const notify = (channel: string, partnerId: PartnerId | null): void => {
    for (const onChange of subscribers.get(channel) ?? []) onChange(partnerId);
  };

  /** Opens a session and resolves when it ends. */
  const runSession = async (): Promise<void> => {
    const session = sessionClient({ ...options, queryMs: 5_000 });
    const over = new AbortController();
    session.once('end', () => over.abort());
    closing.signal.addEventListener('abort', () => over.abort(), { signal: over.signal });
    session.on('notification', ({ channel, payload }) => notify(channel, Number(payload)));
    try {
      await session.connect();
      await session.query([...subscribers.keys()].map((channel) => `LISTEN ${channel}`).join('; '));
      state.session = session;
      for (const channel of subscribers.keys()) notify(channel, null);
      while (!over.signal.aborted) {
        await pause(pingEveryMs, undefined, { signal: over.signal }).catch(() => undefined);
        if (!over.signal.aborted) await session.query('SELECT 1');
      }
    } catch (error) {
      if (!closing.signal.aborted) log.warn({ err: error }, 'change feed disconnected');
    } finally {
      state.session = null;
      await endSession(session);
    }
  };

  return {
    feedOf: (name) => ({
      subscribe: (onChange) => {
        subscribers.get(channels[name])?.push(onChange);
        state.loop ??= reconnectUntil(closing.signal, reconnectMs, runSession);
      },
      isListening: () => state.session !== null,
    }),
    close: async () => {
      closing.abort();
      await state.loop;
    },
  };
}

// Each function reads the marks of any partner's records in one statement. A mark contains no data from the record. See
// migrations/postgres/*-following.sql.

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
