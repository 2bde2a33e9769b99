import { type DeniedCall, actorOf } from '../../domain/audit.ts';
import type { Log } from '../../ports/observability.ts';
import type { ApiKeyStore, AuditLog } from '../../ports/partner-store.ts';

/** Collects entries in memory, so that no request waits for them. `flush` writes them. */
export type AccessRecorder = {
  readonly recordUse: (keyId: number) => void;
  readonly recordDenied: (call: Omit<DeniedCall, 'calls'>) => void;
  readonly flush: () => Promise<void>;
  /** Flushes everything, including the counts of the current minute. */
  readonly close: () => Promise<void>;
};

type Deps = { readonly keys: ApiKeyStore; readonly audit: AuditLog; readonly log: Log };

/**
 * Number of denied calls per minute that are recorded in separate rows. It applies per key, per session, and to all
 * unknown callers combined. Further calls are counted in one row per code, so that a flood of requests cannot fill the disk.
 */
export const ownRowsPerMinute = 10;

/** Entries kept while the database is down. */
const maxWaiting = 1_000;

export function accessRecorder({ keys, audit, log }: Deps, now: () => number = Date.now): AccessRecorder {
  const used = new Set<number>();
  let waiting: DeniedCall[] = [];
  const minuteNow = (): number => Math.floor(now() / 60_000);
  let minute = minuteNow();
  const rowsOf = new Map<string, number>();
  const counted = new Map<string, DeniedCall>();

  function endMinute(): void {
    waiting.push(...counted.values());
    counted.clear();
    rowsOf.clear();
    minute = minuteNow();
  }

  async function writeUses(): Promise<void> {
    if (used.size === 0) return;
    const keyIds = [...used];
    // If the write fails, the next call records the use again.
    used.clear();
    await keys.recordUses(keyIds);
  }

  async function writeDenied(): Promise<void> {
    const calls = waiting;
    waiting = [];
    try {
      if (calls.length > 0) await audit.addDenied(calls);
    } catch (error) {
      waiting = [...calls, ...waiting].slice(0, maxWaiting);
      log.warn({ calls: calls.length, waiting: waiting.length }, 'cannot record denied calls; will retry');
      throw error;
    }
  }

  /** Runs both writes even if one of them fails. */
  async function flush(): Promise<void> {
    if (minuteNow() !== minute) endMinute();
    const results = await Promise.allSettled([writeUses(), writeDenied()]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  return {
    recordUse: (keyId) => void used.add(keyId),
    recordDenied: (call) => {
      const actor = actorOf(call);
      const rows = rowsOf.get(actor) ?? 0;
      rowsOf.set(actor, rows + 1);
      if (rows < ownRowsPerMinute) {
        if (waiting.length < maxWaiting) waiting.push({ ...call, calls: 1 });
        return;
      }
      const which = `${actor} ${call.code}`;
      const before = counted.get(which);
      const operation = before && before.operation !== call.operation ? 'several' : call.operation;
      const address = before && before.address !== call.address ? null : call.address;
      counted.set(which, { ...call, requestId: null, operation, address, calls: (before?.calls ?? 0) + 1 });
    },
    flush,
    close: async () => {
      endMinute();
      await flush();
    },
  };
}
