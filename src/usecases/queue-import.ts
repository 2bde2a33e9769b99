import { requireCompressedForPrefix } from '../domain/compression.ts';
import { Failure } from '../domain/failure.ts';
import { pathType } from '../domain/import-log.ts';
import type { Limits } from '../domain/limits.ts';
import type { Partner } from '../domain/partner.ts';
import { keyInPrefix } from '../domain/source-path.ts';
import type { ImportLogStore, NewImport } from '../ports/import-log-store.ts';

export type QueueImportDeps = { readonly importLogs: ImportLogStore; readonly limits: Limits };

/** Accepts an import: everything that the request alone can get wrong is told now, everything else on the record. */
export async function queueImport(deps: QueueImportDeps, partner: Partner, request: NewImport): Promise<number> {
  if (request.pathType !== pathType.sharedBucket) {
    const detail = 'path_type 1 (a bucket of your own) is not supported yet.';
    throw new Failure('unsupported_option', detail, { fields: [{ pointer: '/path_type', detail }] });
  }
  keyInPrefix(partner.prefix, request.filePath);
  requireCompressedForPrefix(request.filePath, request.compressed);
  return deps.importLogs.submit(partner.id, request, deps.limits.maxOpenJobs);
}
