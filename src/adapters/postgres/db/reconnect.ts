import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';

/** Creates a client for a long-lived session outside the connection pools. */
export function sessionClient(options: { url: Secret; name: string; queryMs: number; log: Log }): Client {
  const session = new Client({
    connectionString: options.url.reveal(),
    application_name: options.name,
    connectionTimeoutMillis: 5_000,
    query_timeout: options.queryMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
  });
  session.on('error', (error) => options.log.warn({ error: error.message }, 'postgres connection lost'));
  return session;
}

/**
 * Calls `runSession` repeatedly until the signal is aborted, with a pause after each call. `runSession` opens a
 * session, resolves when the session ends, and never rejects.
 */
export async function reconnectUntil(
  closing: AbortSignal,
  reconnectMs: number,
  runSession: () => Promise<void>,
): Promise<void> {
  while (!closing.aborted) {
    await runSession();
    await pause(reconnectMs, undefined, { signal: closing }).catch(() => undefined);
  }
}

const closeMs = 2_000;

/** Ends a session. Waits at most two seconds for an unresponsive server. */
export async function endSession(session: Client): Promise<void> {
  await Promise.race([session.end().catch(() => undefined), pause(closeMs)]);
  session.emit('end');
}
