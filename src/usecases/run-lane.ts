import { jobKind } from '../domain/job.ts';
import type { LaneStep, LaneStore, LaneToken } from '../ports/lane-store.ts';
import { finishDelete, prepareDelete, type DeleteDeps } from './delete-attribute-data.ts';
import { finishImport, type FinishImportDeps } from './finish-import.ts';
import { prepareImport, type PrepareImportDeps } from './prepare-import.ts';

export type RunLaneDeps = PrepareImportDeps &
  FinishImportDeps &
  DeleteDeps & { readonly lanes: LaneStore; readonly filesOutPerLane: number; readonly stepsPerTurn: number };

/**
 * Moves a partner's lane as far as it goes without waiting: prepare the oldest open job, send its files out, finish
 * it when none is open. A lane that waits for files holds no process: the last act of every file is to wake it.
 * After some steps it lets other partners' lanes go first.
 */
export async function runLane(deps: RunLaneDeps, token: LaneToken, signal: AbortSignal): Promise<void> {
  for (let count = 0; count < deps.stepsPerTurn && !signal.aborted; count++) {
    const step = await deps.lanes.nextStep(token, deps.filesOutPerLane);
    if (step.do === 'rest') return;
    await takeStep(deps, step);
  }
  await deps.lanes.yieldLane(token);
}

async function takeStep(deps: RunLaneDeps, { do: action, job }: Exclude<LaneStep, { do: 'rest' }>): Promise<void> {
  if (job.kind === jobKind.delete) await (action === 'prepare' ? prepareDelete(deps, job) : finishDelete(deps, job));
  else await (action === 'prepare' ? prepareImport(deps, job) : finishImport(deps, job));
}
