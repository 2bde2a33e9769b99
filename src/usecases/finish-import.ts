import { Failure } from '../domain/failure.ts';
import type { LaneJob, LaneStore } from '../ports/lane-store.ts';
import type { Log } from '../ports/log.ts';
import type { Warehouse } from '../ports/warehouse.ts';

export type FinishImportDeps = { readonly lanes: LaneStore; readonly warehouse: Warehouse; readonly log: Log };

/** Counts the devices of the whole job, writes the result and clears what was kept for the time of the job. */
export async function finishImport(deps: FinishImportDeps, job: LaneJob): Promise<void> {
  const summary = await deps.lanes.summarizeJob(job.id);
  const uniqueDevices = await deps.warehouse.publishDevices(job.id, summary.loadIds);
  const failure =
    summary.failedFiles === 0
      ? null
      : new Failure(
          'file_failed',
          `${summary.failedFiles} of ${summary.failedFiles + summary.loadIds.length} files failed.`,
        );
  await deps.lanes.finishJob(job.id, { uniqueDevices, failure, errors: summary.errors });
  await deps.warehouse.dropJob(job.id);
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, uniqueDevices, code: failure?.code }, 'job finished');
}
