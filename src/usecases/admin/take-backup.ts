import type { ControlBackup, EngineBackup } from '../../ports/backup.ts';
import type { LaneStore } from '../../ports/lane-store.ts';

type Deps = { readonly control: ControlBackup; readonly engine: EngineBackup; readonly lanes: LaneStore };

/**
 * Backs up both databases at one consistent point. Lanes pause only at that point. The backup is written afterwards. A
 * restore yields the state that a crash of all processes would have left, from which Inlet recovers. See
 * docs/decisions/backup.md.
 */
export async function takeBackup(
  { control, engine, lanes }: Deps,
  { name, dumpFile, patienceSeconds }: { name: string; dumpFile: string; patienceSeconds: number },
): Promise<{ readonly takenAt: Date; readonly pausedSeconds: number }> {
  await engine.release();
  const start = performance.now();
  try {
    const { takenAt, stagedLoadIds } = await control.pause(patienceSeconds);
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
