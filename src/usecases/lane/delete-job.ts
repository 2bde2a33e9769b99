import { versionsOfJob } from '../../domain/job.ts';
import type { DeleteJob, LaneStore } from '../../ports/lane-store.ts';
import type { Log } from '../../ports/observability.ts';
import type { AttributeRows, Warehouse } from '../../ports/warehouse.ts';

export type DeleteDeps = { readonly lanes: LaneStore; readonly warehouse: Warehouse; readonly log: Log };

function rowsOf({ partnerId, attributeIds, seq }: DeleteJob): AttributeRows {
  return { partnerId, attributeIds, versions: versionsOfJob(seq) };
}

/** Counts the rows before any are deleted, because they could no longer be counted after a takeover. */
export async function prepareDelete(deps: DeleteDeps, job: DeleteJob): Promise<void> {
  await deps.lanes.startDelete(job.id, await deps.warehouse.countAttributeRows(rowsOf(job)));
}

/** Deletes the rows. The record is done only when no part on any shard holds them. */
export async function finishDelete(deps: DeleteDeps, job: DeleteJob): Promise<void> {
  await deps.warehouse.deleteAttributeRows(rowsOf(job));
  await deps.lanes.finishDelete(job.id);
  deps.log.info(
    { jobId: job.id, partnerId: job.partnerId, attributes: job.attributeIds.length },
    'attribute data deleted',
  );
}
