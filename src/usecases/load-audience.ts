import { intoBatches } from '../domain/batches.ts';
import { failureOfJob } from '../domain/job-outcome.ts';
import { expectGzipByName } from '../domain/compression.ts';
import type { Limits } from '../domain/limits.ts';
import { keyInPrefix } from '../domain/source-path.ts';
import type { AudienceJob, LaneStore } from '../ports/lane-store.ts';
import type { LoadStage } from '../ports/load-stage.ts';
import type { Log } from '../ports/log.ts';
import type { SourceStorage } from '../ports/source-storage.ts';
import { listSourceFiles } from './list-source-files.ts';

export type LoadAudienceDeps = {
  readonly lanes: LaneStore;
  readonly sources: SourceStorage;
  readonly stage: LoadStage;
  readonly limits: Limits;
  readonly log: Log;
};

/**
 * Lists the files of an audience's job when its turn has come, and leaves out those that are loaded already. Jobs of a
 * partner run one after the other, so whatever an earlier one loaded is in the ledger by now.
 */
export async function prepareAudienceLoad(deps: LoadAudienceDeps, job: AudienceJob): Promise<void> {
  const { filePath } = job.source;
  const key = keyInPrefix(job.prefix, filePath);
  const { objects } = await deps.sources.withObjects(job.source, (store) =>
    listSourceFiles(store, deps.limits, { key, filePath }),
  );
  const files = objects.map((object) => ({ ...object, path: object.key, gzip: expectGzipByName(object.key) }));
  const toLoad = await deps.lanes.startAudienceLoad(job, intoBatches(files));
  deps.log.info({ jobId: job.id, audienceId: job.audienceId, files: files.length, toLoad }, 'audience load started');
}

/** The counts stand already: each group of files brought its own. */
export async function finishAudienceLoad(deps: LoadAudienceDeps, job: AudienceJob): Promise<void> {
  const summary = await deps.lanes.summarizeJob(job.id);
  for (const loadId of summary.cancelledLoadIds) await deps.stage.dropLoad(loadId);
  const failure = failureOfJob(summary);
  await deps.lanes.finishAudienceLoad(job.id, failure);
  deps.log.info({ jobId: job.id, audienceId: job.audienceId, code: failure?.code }, 'audience load finished');
}
