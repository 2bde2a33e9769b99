import { resolveKeys } from '../domain/attribute.ts';
import { expectGzip } from '../domain/compression.ts';
import { Failure } from '../domain/failure.ts';
import type { Limits } from '../domain/limits.ts';
import { isCertainlyPrefix, keyInPrefix } from '../domain/source-path.ts';
import type { AttributeStore } from '../ports/attribute-store.ts';
import type { FileToLoad, LaneJob, LaneStore } from '../ports/lane-store.ts';
import type { Log } from '../ports/log.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { Warehouse } from '../ports/warehouse.ts';

export type PrepareImportDeps = {
  readonly lanes: LaneStore;
  readonly attributes: AttributeStore;
  readonly objects: ObjectStore;
  readonly warehouse: Warehouse;
  readonly limits: Limits;
  readonly log: Log;
};

/** Lists the files of a job and fixes what its keys mean: both once, when the job's turn has come. */
export async function prepareImport(deps: PrepareImportDeps, job: LaneJob): Promise<void> {
  try {
    const files = await listFiles(deps, job);
    const attributes = await deps.attributes.list(job.partnerId);
    await deps.warehouse.writeJobKeys(job.id, resolveKeys(attributes, job.keyType));
    await deps.lanes.startJob(job.id, files);
    deps.log.info({ jobId: job.id, partnerId: job.partnerId, files: files.length }, 'job started');
  } catch (error) {
    if (!(error instanceof Failure && error.isFinal)) throw error;
    await deps.lanes.failJob(job.id, error);
    deps.log.info({ jobId: job.id, partnerId: job.partnerId, code: error.code }, 'job failed before it started');
  }
}

/**
 * Decision 19. The list is held in memory while it is made: it is bounded by the limit of files per prefix, and one
 * transaction has to write it whole.
 */
async function listFiles(deps: PrepareImportDeps, job: LaneJob): Promise<readonly FileToLoad[]> {
  const key = keyInPrefix(job.prefix, job.filePath);
  const exact = isCertainlyPrefix(job.filePath) ? null : await deps.objects.find(key);
  if (exact) return [{ ...exact, gzip: expectGzip(job.compressed, { key, isSingle: true }) }];
  const limit = deps.limits.maxFilesPerPrefix;
  const found = await deps.objects.list(key, limit + 1);
  if (found.length === 0) throw new Failure('no_files', `No object has the path "${job.filePath}" or begins with it.`);
  if (found.length > limit)
    throw new Failure('too_many_files', `More than ${limit} files begin with "${job.filePath}".`);
  return found.map((object) => ({ ...object, gzip: expectGzip(job.compressed, { key: object.key, isSingle: false }) }));
}
