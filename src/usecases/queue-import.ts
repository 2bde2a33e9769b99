import { requireCompressedForPrefix } from '../domain/compression.ts';
import { Failure } from '../domain/failure.ts';
import type { Once } from '../domain/once.ts';
import { pathType } from '../domain/import-log.ts';
import type { Limits } from '../domain/limits.ts';
import {
  isRole,
  parsePartnerPath,
  requireKnownRegion,
  requireRoleArn,
  type BucketCredentials,
} from '../domain/partner-bucket.ts';
import type { Partner } from '../domain/partner.ts';
import { keyInPrefix } from '../domain/source-path.ts';
import type { ImportLogStore, NewImport } from '../ports/import-log-store.ts';

export type QueueImportDeps = {
  readonly importLogs: ImportLogStore;
  readonly limits: Limits;
  readonly canAssumeRoles: boolean;
};

/** Accepts an import: everything that the request alone can get wrong is told now, everything else on the record. */
export async function queueImport(
  deps: QueueImportDeps,
  partner: Partner,
  request: NewImport,
  once: Once | null = null,
): Promise<number> {
  if (request.pathType === pathType.partnerBucket) {
    parsePartnerPath(request.filePath);
    if (!request.credentials) throw credentialsRequired('must be given when path_type is 1.');
    requireUsable(deps, request.credentials);
  } else {
    keyInPrefix(partner.prefix, request.filePath);
    if (request.credentials) throw credentialsRequired('must not be given when path_type is 0.');
  }
  requireCompressedForPrefix(request.filePath, request.compressed);
  return deps.importLogs.submitImport(partner.id, request, deps.limits.maxOpenJobs, once);
}

function requireUsable(deps: QueueImportDeps, credentials: BucketCredentials): void {
  requireKnownRegion(credentials.region);
  if (!isRole(credentials)) return;
  requireRoleArn(credentials.roleArn);
  if (deps.canAssumeRoles) return;
  const detail = 'roleArn cannot be used here; send accessKeyId and secretAccessKey.';
  throw new Failure('roles_not_available', detail, { fields: [{ pointer: '/credentials/roleArn', detail }] });
}

function credentialsRequired(rule: string): Failure {
  const detail = `credentials ${rule}`;
  return new Failure('credentials_required', detail, { fields: [{ pointer: '/credentials', detail }] });
}
