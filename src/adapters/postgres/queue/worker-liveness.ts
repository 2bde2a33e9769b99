import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { advisoryLocks } from '../db/advisory-locks.ts';

/**
 * Shows other workers which tokens this worker holds. A dedicated session holds one lock per token. The session ends
 * with the process, so other workers see lost tokens immediately, long before pg-boss misses a heartbeat. Heartbeats
 * still cover a hung process or a lost host. Safety does not depend on this mechanism, because a token that is handed
 * out too early does no harm.
 */
export type WorkerLiveness = {
  readonly hold: (token: string) => void;
  readonly release: (token: string) => void;
  readonly holds: (token: string) => boolean;
  /**
   * True if the session has been connected for some seconds. After a PostgreSQL outage, a missing lock means nothing
   * until all workers have reconnected.
   */
  readonly isSettled: () => boolean;
  readonly close: () => Promise<void>;
};

/** SQL for a token's lock. The lock is shared, so no session ever waits for it. */
export const lockOfToken = (text: string): string => `hashtextextended(${text}, ${advisoryLocks.workerToken})`;
/** The same lock as `pg_locks` shows it. */
export const shownLock = '(classid::bigint << 32) | objid::bigint';

/** The session's application_name, followed by the process ID. */
export const livenessSessionName = 'inlet-worker-presence';

const reconnectMs = 200;
const settledMs = 5_000;
const closeMs = 2_000;

export function startWorkerLiveness(options: { url: Secret; log: Log }): WorkerLiveness {
  const held = new Set<string>();
  const closing = new AbortController();
  const state: { session: Client | null; since: number } = { session: null, since: 0 };

  const say = async (query: string, token: string): Promise<void> => {
    const { session } = state;
    try {
      await session?.query(query, [token]);
    } catch (error) {
      options.log.warn({ err: error }, 'worker liveness session failed');
      if (session) await end(session);
    }
  };
  const lock = (token: string): Promise<void> => say(`SELECT pg_advisory_lock_shared(${lockOfToken('$1')})`, token);

  /** Runs one connection until it ends. */
  const liveOnce = async (): Promise<void> => {
    const session = new Client({
      connectionString: options.url.reveal(),
      application_name: `${livenessSessionName} ${process.pid}`,
      connectionTimeoutMillis: 5_000,
      query_timeout: 10_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
    });
    const ended = new Promise<void>((resolve) => session.once('end', resolve));
    session.on('error', (error) => options.log.warn({ error: error.message }, 'postgres connection lost'));
    try {
      await session.connect();
      const before = [...held];
      Object.assign(state, { session, since: performance.now() });
      for (const token of before) await lock(token);
      await ended;
    } catch (error) {
      options.log.warn({ err: error }, 'postgres unreachable');
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
  const life = live();

  return {
    hold: (token) => {
      held.add(token);
      void lock(token);
    },
    release: (token) => {
      if (held.delete(token)) void say(`SELECT pg_advisory_unlock_shared(${lockOfToken('$1')})`, token);
    },
    holds: (token) => held.has(token),
    isSettled: () => state.session !== null && performance.now() - state.since > settledMs,
    close: async () => {
      closing.abort();
      if (state.session) await end(state.session);
      await life;
    },
  };
}

/** Does not wait for an unresponsive server. */
async function end(session: Client): Promise<void> {
  await Promise.race([session.end().catch(() => undefined), pause(closeMs)]);
  session.emit('end');
}
