import type { ControlBackup, EngineBackup } from '../../ports/backup.ts';
import type { LaneStore } from '../../ports/lane-store.ts';

type Deps = { readonly control: ControlBackup; readonly engine: EngineBackup; readonly lanes: LaneStore };

/**
 * Backs up both databases in one consistent state. Lanes pause only while that state is captured, and the backup is
 * written afterwards. After a restore, Inlet recovers as it does after a crash of all processes. See
 * docs/decisions/backup.md.
 */
export async function takeBackup(
  { control, engine, lanes }: Deps,
  { name, dumpFile, timeoutSeconds }: { name: string; dumpFile: string; timeoutSeconds: number },
): Promise<{ readonly takenAt: Date; readonly pausedSeconds: number }> {
  await engine.release();
  const start = performance.now();
  try {
    const { takenAt, stagedLoadIds } = await control.pause(timeoutSeconds);
    await engine.hold(stagedLoadIds);
    await control.resume();
    const pausedSeconds = (performance.now() - start) / 1000;
    await lanes.requeueIdleLanes();
    await Promise.all([control.dump(dumpFile), engine.save(name)]);
    return { takenAt, pausedSeconds };
  } finally {
    await engine.release();
  }
}
