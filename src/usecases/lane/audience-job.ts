import { expectGzipByName } from '../../domain/file-failure.ts';
import { failureOfJob } from '../../domain/job-outcome.ts';
import { intoBatches } from '../../domain/job.ts';
import type { Limits } from '../../domain/limits.ts';
import { keyInPrefix } from '../../domain/source-path.ts';
import type { AudienceJob, LaneStore } from '../../ports/lane-store.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { SourceStorage } from '../../ports/object-store.ts';
import type { Log } from '../../ports/observability.ts';
import { listSourceFiles } from './list-source-files.ts';

export type LoadAudienceDeps = {
  readonly lanes: LaneStore;
  readonly sources: SourceStorage;
  readonly stage: LoadStage;
  readonly limits: Limits;
  readonly log: Log;
};

/**
 * Lists the job's files when the job reaches the head of the lane, and skips files that are already loaded. A partner's
 * jobs run one after another, so every file that an earlier job loaded is recorded by now.
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

/** The audience's counts are already stored, because each publish step wrote its own. */
export async function finishAudienceLoad(deps: LoadAudienceDeps, job: AudienceJob): Promise<void> {
  const summary = await deps.lanes.summarizeJob(job.id);
  for (const loadId of summary.cancelledLoadIds) await deps.stage.dropLoad(loadId);
  const failure = failureOfJob(summary);
  await deps.lanes.finishAudienceLoad(job.id, failure);
  deps.log.info({ jobId: job.id, audienceId: job.audienceId, code: failure?.code }, 'audience load finished');
}
