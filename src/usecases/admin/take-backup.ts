import type { ControlBackup, EngineBackup } from '../../ports/backup.ts';
import type { LaneStore } from '../../ports/lane-store.ts';

type Deps = { readonly control: ControlBackup; readonly engine: EngineBackup; readonly lanes: LaneStore };

/**
 * Both stores as they are at one moment. Only for that moment the lanes stand still; the writing comes afterwards. What is
 * restored is then what a crash of all processes at that moment would have left, which Inlet can go on from.
 * See docs/decisions/backup.md.
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
    await lanes.wakeLanes();
    await Promise.all([control.dump(dumpFile), engine.save(name)]);
    return { takenAt, pausedSeconds };
  } finally {
    await engine.release();
  }
}
