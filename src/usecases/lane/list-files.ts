import { pathType } from '../../domain/import-log.ts';
import { Failure } from '../../domain/failure.ts';
import type { Limits } from '../../domain/limits.ts';
import { parsePartnerPath } from '../../domain/partner-bucket.ts';
import { isSkippedRejects } from '../../domain/reject-export.ts';
import { expectGzip, isCertainlyPrefix, keyInPrefix } from '../../domain/source-file.ts';
import type { AudienceJob, FileToLoad, ImportJob, LaneStore, LostObject } from '../../ports/lane-store.ts';
import type { FoundObject, ObjectStore, SourceStorage } from '../../ports/object-store.ts';

/** Lists the files that an import loads. */
export async function listImportFiles(
  limits: Limits,
  store: ObjectStore,
  job: Pick<ImportJob, 'prefix' | 'compressed'> & { readonly source: Omit<ImportJob['source'], 'jobId'> },
): Promise<readonly FileToLoad[]> {
  const { filePath } = job.source;
  const isShared = job.source.pathType === pathType.sharedBucket;
  const key = isShared ? keyInPrefix(job.prefix, filePath) : parsePartnerPath(filePath).key;
  const hint = isShared && filePath.startsWith(job.prefix) ? ` Leave out your prefix "${job.prefix}".` : '';
  const paths = [{ key, filePath, prefix: isShared ? job.prefix : null }];
  const { objects, isSingle } = await listSourceFiles(store, limits, paths, hint);
  return objects.map((object) => ({
    ...object,
    path: isShared ? object.key.slice(job.prefix.length) : object.key,
    gzip: expectGzip(job.compressed, { key: object.key, isSingle }),
  }));
}

/** Number of files that a retry looks up at a time. */
const lookupsAtATime = 16;

/**
 * For a retry of failed files, returns the current versions of these files. Returns null for any other job, and if the
 * earlier job never listed its files. A file that no longer exists is returned as it was, and loading it fails with
 * `file_changed`.
 */
export async function listFailedFiles(
  { lanes, sources }: { readonly lanes: LaneStore; readonly sources: SourceStorage },
  job: ImportJob | AudienceJob,
): Promise<readonly FileToLoad[] | null> {
  const failed = job.onlyFailedOf === null ? null : await lanes.listFailedFiles(job.onlyFailedOf);
  if (!failed) return null;
  if (failed.length === 0 && job.kind === 'import')
    throw new Failure('no_files', `The failed files of import ${job.onlyFailedOf} are no longer recorded.`);
  return sources.withObjects(job.source, async (store) => {
    const found: FileToLoad[] = [];
    for (let from = 0; from < failed.length; from += lookupsAtATime) {
      const some = failed.slice(from, from + lookupsAtATime);
      found.push(...(await Promise.all(some.map(async (file) => ({ ...file, ...(await store.find(file.key)) })))));
    }
    return found;
  });
}

/**
 * For an import that a subscription created, returns the given versions that still exist. A version that was
 * overwritten or deleted in the meantime is recorded and not loaded. If one is overwritten later, loading it fails with
 * `file_changed`.
 */
export async function listGivenFiles(
  { lanes, sources }: { readonly lanes: LaneStore; readonly sources: SourceStorage },
  job: ImportJob,
): Promise<readonly FileToLoad[]> {
  const given = await lanes.listGivenObjects(job.id);
  const files: FileToLoad[] = [];
  const lost: LostObject[] = [];
  await sources.withObjects(job.source, async (store) => {
    for (let from = 0; from < given.length; from += lookupsAtATime) {
      const some = given.slice(from, from + lookupsAtATime);
      const found = await Promise.all(some.map(async (object) => ({ object, current: await store.find(object.key) })));
      for (const { object, current } of found) {
        if (current?.etag === object.etag && current.size === object.size)
          files.push({
            ...object,
            lastModified: current.lastModified,
            path: object.key.slice(job.prefix.length),
            gzip: expectGzip(job.compressed, { key: object.key, isSingle: false }),
          });
        else lost.push({ key: object.key, state: current ? 'overwritten' : 'deleted' });
      }
    }
  });
  await lanes.recordLostObjects(job.id, lost);
  return files;
}

type Listed = {
  readonly objects: readonly FoundObject[];
  /** True if the path is the key of one object, false if it is a prefix. */
  readonly isSingle: boolean;
};

type SourcePath = {
  readonly key: string;
  readonly filePath: string;
  /** The partner's prefix in the shared bucket. Null for a partner's own bucket. */
  readonly prefix: string | null;
};

/**
 * Decision 19: lists the object with exactly this key or, if there is none, all objects whose keys start with it. Uses
 * the first path that matches anything. The whole list is kept in memory, because one transaction writes it. The limit
 * on files per prefix bounds its size.
 */
export async function listSourceFiles(
  objects: ObjectStore,
  limits: Limits,
  paths: readonly SourcePath[],
  hint = '',
): Promise<Listed> {
  for (const { key, filePath, prefix } of paths) {
    const exact = isCertainlyPrefix(filePath) ? null : await objects.find(key);
    if (exact) return { objects: [exact], isSingle: true };
    const found = await objects.list(key, limits.maxFilesPerPrefix + 1);
    if (found.length > limits.maxFilesPerPrefix) {
      throw new Failure('too_many_files', `More than ${limits.maxFilesPerPrefix} files begin with "${filePath}".`);
    }
    const imported = found.filter((object) => prefix === null || !isSkippedRejects(prefix, key, object.key));
    if (imported.length > 0) return { objects: imported, isSingle: false };
  }
  const submitted = paths[0]?.filePath ?? '';
  throw new Failure('no_files', `No object has the path "${submitted}" or begins with it.${hint}`);
}
