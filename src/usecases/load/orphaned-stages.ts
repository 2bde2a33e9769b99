import type { FileStore, LoadStage } from '../../ports/load-stage.ts';
import type { Log } from '../../ports/observability.ts';
import type { Warehouse } from '../../ports/warehouse.ts';

export type OrphanedStagesDeps = {
  readonly files: Pick<FileStore, 'findLive'>;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly log: Log;
};

/**
 * Drops staging tables that have no owner. The tables are listed before the owners. A load gets its ID before it stages
 * anything, so a listed table without a live load belongs to a load that has ended.
 */
export async function dropOrphanedStages(deps: OrphanedStagesDeps, servers: 'available' | 'all'): Promise<void> {
  const staged = await deps.stage.listStaged(servers);
  const live = await deps.files.findLive(staged);
  for (const loadId of staged.loadIds) {
    if (live.loadIds.has(loadId)) continue;
    await deps.stage.dropLoad(loadId);
    deps.log.warn({ loadId }, 'dropped an orphaned stage');
  }
  for (const jobId of staged.jobIds) {
    if (live.jobIds.has(jobId)) continue;
    await deps.warehouse.dropJob(jobId);
    deps.log.warn({ jobId }, 'dropped leftovers of a finished job');
  }
}
