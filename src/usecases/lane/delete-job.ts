import { versionsOfJob } from '../../domain/job.ts';
import type { DeleteJob, LaneStore } from '../../ports/lane-store.ts';
import type { Log } from '../../ports/observability.ts';
import type { AttributeRows, Warehouse } from '../../ports/warehouse.ts';

export type DeleteDeps = { readonly lanes: LaneStore; readonly warehouse: Warehouse; readonly log: Log };

function rowsOf({ partnerId, attributeIds, seq }: DeleteJob): AttributeRows {
  return { partnerId, attributeIds, versions: versionsOfJob(seq) };
}

/** Counts what will go, before anything goes: a delete that is taken over half-way can no longer count it. */
export async function prepareDelete(deps: DeleteDeps, job: DeleteJob): Promise<void> {
  await deps.lanes.startDelete(job.id, await deps.warehouse.countAttributeRows(rowsOf(job)));
}

/** Removes the rows for good. The record says done only when they are in no part on any shard. */
export async function finishDelete(deps: DeleteDeps, job: DeleteJob): Promise<void> {
  await deps.warehouse.deleteAttributeRows(rowsOf(job));
  await deps.lanes.finishDelete(job.id);
  deps.log.info(
    { jobId: job.id, partnerId: job.partnerId, attributes: job.attributeIds.length },
    'attribute data deleted',
  );
}
