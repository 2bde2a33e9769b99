import type { DeniedCall } from '../../domain/audit.ts';
import type { Log } from '../../ports/observability.ts';
import type { ApiKeyStore, AuditLog } from '../../ports/partner-store.ts';

/** Takes notes in memory, so that no request waits for them, and writes them when it is told to. */
export type AccessRecorder = {
  readonly noteUse: (keyId: number) => void;
  readonly noteDenied: (call: Omit<DeniedCall, 'calls'>) => void;
  readonly flush: () => Promise<void>;
  /** Writes also what is still being counted. */
  readonly close: () => Promise<void>;
};

type Deps = { readonly keys: ApiKeyStore; readonly audit: AuditLog; readonly log: Log };

/**
 * So many denied calls of one key, and of all strangers together, have a row of their own in a minute. The others are
 * counted in one row for each code: whoever asks a million times fills no disk.
 */
export const ownRowsPerMinute = 10;

/** What waits while the database is away. */
const mostWaiting = 1_000;

export function accessRecorder({ keys, audit, log }: Deps, now: () => number = Date.now): AccessRecorder {
  const used = new Set<number>();
  let waiting: DeniedCall[] = [];
  const minuteNow = (): number => Math.floor(now() / 60_000);
  let minute = minuteNow();
  const rowsOf = new Map<number | null, number>();
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
    // What cannot be written is noted again with the next call.
    used.clear();
    await keys.recordUses(keyIds);
  }

  async function writeDenied(): Promise<void> {
    const calls = waiting;
    waiting = [];
    try {
      if (calls.length > 0) await audit.addDenied(calls);
    } catch (error) {
      waiting = [...calls, ...waiting].slice(0, mostWaiting);
      log.warn({ calls: calls.length, waiting: waiting.length }, 'denied calls could not be recorded yet');
      throw error;
    }
  }

  /** What fails does not keep the other from being written. */
  async function flush(): Promise<void> {
    if (minuteNow() !== minute) endMinute();
    const results = await Promise.allSettled([writeUses(), writeDenied()]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  return {
    noteUse: (keyId) => void used.add(keyId),
    noteDenied: (call) => {
      const rows = rowsOf.get(call.keyId) ?? 0;
      rowsOf.set(call.keyId, rows + 1);
      if (rows < ownRowsPerMinute) {
        if (waiting.length < mostWaiting) waiting.push({ ...call, calls: 1 });
        return;
      }
      const which = `${call.keyId} ${call.code}`;
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
