import { resolveKeys } from '../domain/attribute.ts';
import { expectGzip } from '../domain/compression.ts';
import { Failure } from '../domain/failure.ts';
import { pathType } from '../domain/import-log.ts';
import type { Limits } from '../domain/limits.ts';
import { parsePartnerPath } from '../domain/partner-bucket.ts';
import { isCertainlyPrefix, keyInPrefix } from '../domain/source-path.ts';
import type { AttributeStore } from '../ports/attribute-store.ts';
import type { FileToLoad, LaneJob, LaneStore } from '../ports/lane-store.ts';
import type { Log } from '../ports/log.ts';
import type { ObjectStore, StoredObject } from '../ports/object-store.ts';
import type { SourceStorage } from '../ports/source-storage.ts';
import type { Warehouse } from '../ports/warehouse.ts';

export type PrepareImportDeps = {
  readonly lanes: LaneStore;
  readonly attributes: AttributeStore;
  readonly sources: SourceStorage;
  readonly warehouse: Warehouse;
  readonly limits: Limits;
  readonly log: Log;
};

/** Lists the files of a job and fixes what its keys mean: both once, when the job's turn has come. */
export async function prepareImport(deps: PrepareImportDeps, job: LaneJob): Promise<void> {
  try {
    const files = await deps.sources.withObjects(job.source, (objects) => listFiles(objects, deps.limits, job));
    const attributes = await deps.attributes.list(job.partnerId, { retired: false });
    await deps.warehouse.writeJobKeys(job.id, resolveKeys(attributes, job.keyType));
    await deps.lanes.startImport(job.id, files);
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
async function listFiles(objects: ObjectStore, limits: Limits, job: LaneJob): Promise<readonly FileToLoad[]> {
  const { filePath } = job.source;
  const isShared = job.source.pathType === pathType.sharedBucket;
  const key = isShared ? keyInPrefix(job.prefix, filePath) : parsePartnerPath(filePath).key;
  const toFile = (object: StoredObject, isSingle: boolean): FileToLoad => ({
    ...object,
    path: isShared ? object.key.slice(job.prefix.length) : object.key,
    gzip: expectGzip(job.compressed, { key: object.key, isSingle }),
  });
  const exact = isCertainlyPrefix(filePath) ? null : await objects.find(key);
  if (exact) return [toFile(exact, true)];
  const found = await objects.list(key, limits.maxFilesPerPrefix + 1);
  if (found.length === 0) throw new Failure('no_files', `No object has the path "${filePath}" or begins with it.`);
  if (found.length > limits.maxFilesPerPrefix) {
    throw new Failure('too_many_files', `More than ${limits.maxFilesPerPrefix} files begin with "${filePath}".`);
  }
  return found.map((object) => toFile(object, false));
}
