import { resolveKeys } from '../domain/attribute.ts';
import { intoBatches } from '../domain/batches.ts';
import { expectGzip } from '../domain/compression.ts';
import { pathType } from '../domain/import-log.ts';
import type { Limits } from '../domain/limits.ts';
import { parsePartnerPath } from '../domain/partner-bucket.ts';
import { keyInPrefix } from '../domain/source-path.ts';
import type { AttributeStore } from '../ports/attribute-store.ts';
import type { FileToLoad, ImportJob, LaneStore } from '../ports/lane-store.ts';
import type { Log } from '../ports/log.ts';
import type { SourceStorage } from '../ports/source-storage.ts';
import type { Warehouse } from '../ports/warehouse.ts';
import { listSourceFiles } from './list-source-files.ts';

export type PrepareImportDeps = {
  readonly lanes: LaneStore;
  readonly attributes: AttributeStore;
  readonly sources: SourceStorage;
  readonly warehouse: Warehouse;
  readonly limits: Limits;
  readonly log: Log;
};

/** Lists the files of a job and fixes what its keys mean: both once, when the job's turn has come. */
export async function prepareImport(deps: PrepareImportDeps, job: ImportJob): Promise<void> {
  const files = await listFiles(deps, job);
  const attributes = await deps.attributes.list(job.partnerId, { retired: false });
  await deps.warehouse.writeJobKeys(job.id, resolveKeys(attributes, job.keyType));
  await deps.lanes.startImport(job.id, intoBatches(files));
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, files: files.length }, 'job started');
}

async function listFiles(deps: PrepareImportDeps, job: ImportJob): Promise<readonly FileToLoad[]> {
  const { filePath } = job.source;
  const isShared = job.source.pathType === pathType.sharedBucket;
  const key = isShared ? keyInPrefix(job.prefix, filePath) : parsePartnerPath(filePath).key;
  const { objects, isSingle } = await deps.sources.withObjects(job.source, (store) =>
    listSourceFiles(store, deps.limits, { key, filePath }),
  );
  return objects.map((object) => ({
    ...object,
    path: isShared ? object.key.slice(job.prefix.length) : object.key,
    gzip: expectGzip(job.compressed, { key: object.key, isSingle }),
  }));
}
