import type { BackupHistory, ControlBackup, EngineBackup } from '../../ports/backup.ts';
import type { LaneStore } from '../../ports/lane-store.ts';

type Deps = { readonly control: ControlBackup; readonly engine: EngineBackup; readonly lanes: LaneStore };

export type TakenBackup = {
  readonly takenAt: Date;
  readonly pausedSeconds: number;
  /** Size of the ClickHouse backup. */
  readonly engineBytes: number;
};

/**
 * Backs up both databases in one consistent state. Lanes pause only while that state is captured, and the backup is
 * written afterward. After a restore, Inlet recovers as it does after a crash of all processes. See
 * docs/decisions/backup.md.
 */
export async function takeBackup(
  { control, engine, lanes }: Deps,
  { name, dumpFile, timeoutSeconds }: { name: string; dumpFile: string; timeoutSeconds: number },
): Promise<TakenBackup> {
  await engine.release();
  const start = performance.now();
  try {
    const { takenAt, stagedLoadIds } = await control.pause(timeoutSeconds);
    await engine.hold(stagedLoadIds);
    await control.resume();
    const pausedSeconds = (performance.now() - start) / 1000;
    await lanes.requeueIdleLanes();
    const [, engineBytes] = await Promise.all([control.dump(dumpFile), engine.save(name)]);
    return { takenAt, pausedSeconds, engineBytes };
  } finally {
    await engine.release();
  }
}

const maxReasonLength = 1_000;

/**
 * Number of attempts to record a complete backup. A backup can take hours, so the connection may have been closed in
 * the meantime.
 */
const recordAttempts = 3;

/**
 * Records the outcome of a backup, so that operators see how old the newest backup is. A complete backup stays valid if it
 * cannot be recorded, for example because a migration holds the table. `notRecorded` is then the reason.
 */
export async function recordBackup<Taken extends { readonly takenAt: Date; readonly bytes: number }>(
  backups: BackupHistory,
  destination: string,
  take: () => Promise<Taken>,
): Promise<Taken & { readonly notRecorded: string | null }> {
  const startedAt = new Date();
  const taken = await take().catch(async (error: unknown) => {
    const failure = reasonOf(error);
    // A backup can fail because PostgreSQL is unavailable. The first error is then the useful one.
    await backups.record({ startedAt, takenAt: null, bytes: null, destination, failure }).catch(() => undefined);
    throw error;
  });
  const record = { startedAt, takenAt: taken.takenAt, bytes: taken.bytes, destination, failure: null };
  let notRecorded: string | null = null;
  for (let attempt = 1; attempt <= recordAttempts; attempt += 1) {
    notRecorded = await backups.record(record).then(() => null, reasonOf);
    if (notRecorded === null) break;
  }
  return { ...taken, notRecorded };
}

function reasonOf(error: unknown): string {
  return String(error instanceof Error ? error.message : error).slice(0, maxReasonLength);
}
