import type { LaneStore, LaneToken } from '../ports/lane-store.ts';
import { finishImport, type FinishImportDeps } from './finish-import.ts';
import { prepareImport, type PrepareImportDeps } from './prepare-import.ts';

export type RunLaneDeps = PrepareImportDeps &
  FinishImportDeps & { readonly lanes: LaneStore; readonly filesOutPerLane: number; readonly stepsPerTurn: number };

/**
 * Moves a partner's lane as far as it goes without waiting: prepare the oldest open job, send its files out, finish
 * it when none is open. A lane that waits for files holds no process: the last act of every file is to wake it.
 * After some steps it lets other partners' lanes go first.
 */
export async function runLane(deps: RunLaneDeps, token: LaneToken, signal: AbortSignal): Promise<void> {
  for (let step = 0; step < deps.stepsPerTurn && !signal.aborted; step++) {
    const next = await deps.lanes.nextStep(token, deps.filesOutPerLane);
    if (next.do === 'rest') return;
    if (next.do === 'prepare') await prepareImport(deps, next.job);
    else await finishImport(deps, next.job);
  }
  await deps.lanes.yieldLane(token);
}
