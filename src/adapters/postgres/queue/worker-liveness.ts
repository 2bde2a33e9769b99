import type { Client } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { advisoryLocks } from '../db/advisory-locks.ts';
import { endSession, reconnectUntil, sessionClient } from '../db/reconnect.ts';

/**
 * Shows other workers which tokens this worker holds. A dedicated session holds one lock per token. The session ends
 * with the process, so other workers detect lost tokens immediately, long before a heartbeat is overdue. Heartbeats
 * still detect a hung process or a lost host. Correctness does not depend on these locks, because assigning a token too
 * early does no harm.
 */
export type WorkerLiveness = {
  readonly hold: (token: string) => void;
  readonly release: (token: string) => void;
  readonly holds: (token: string) => boolean;
  /**
   * Returns true if the session has been connected for several seconds. After a PostgreSQL outage, a lock may be
   * missing only because its worker has not reconnected yet.
   */
  readonly isSettled: () => boolean;
  readonly close: () => Promise<void>;
};

/** Returns the SQL expression for a token's lock key. The lock is shared, so no session ever waits for it. */
export const lockOfToken = (text: string): string => `hashtextextended(${text}, ${advisoryLocks.workerToken})`;
/** The same lock key in the columns of `pg_locks`. */
export const shownLock = '(classid::bigint << 32) | objid::bigint';

/** The prefix of the session's application_name. The process ID follows. */
export const livenessSessionName = 'inlet-worker-presence';

const reconnectMs = 200;
const settledMs = 5_000;

export function startWorkerLiveness(options: { url: Secret; log: Log }): WorkerLiveness {
  const held = new Set<string>();
  const closing = new AbortController();
  const state: { session: Client | null; since: number } = { session: null, since: 0 };

  const query = async (text: string, token: string): Promise<void> => {
    const { session } = state;
    try {
      await session?.query(text, [token]);
    } catch (error) {
      options.log.warn({ err: error }, 'worker liveness session failed');
      if (session) await endSession(session);
    }
  };
  const lock = (token: string): Promise<void> => query(`SELECT pg_advisory_lock_shared(${lockOfToken('$1')})`, token);

  /** Opens a session and resolves when it ends. */
  const runSession = async (): Promise<void> => {
    const session = sessionClient({ ...options, name: `${livenessSessionName} ${process.pid}`, queryMs: 10_000 });
    const ended = new Promise<void>((resolve) => session.once('end', resolve));
    try {
      await session.connect();
      const before = [...held];
      Object.assign(state, { session, since: performance.now() });
      for (const token of before) await lock(token);
      await ended;
    } catch (error) {
      options.log.warn({ err: error }, 'postgres unreachable');
      await endSession(session);
    } finally {
      state.session = null;
    }
  };
  const loop = reconnectUntil(closing.signal, reconnectMs, runSession);

  return {
    hold: (token) => {
      held.add(token);
      void lock(token);
    },
    release: (token) => {
      if (held.delete(token)) void query(`SELECT pg_advisory_unlock_shared(${lockOfToken('$1')})`, token);
    },
    holds: (token) => held.has(token),
    isSettled: () => state.session !== null && performance.now() - state.since > settledMs,
    close: async () => {
      closing.abort();
      if (state.session) await endSession(state.session);
      await loop;
    },
  };
}
