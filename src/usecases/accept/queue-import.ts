import { attributesOfKeys, resolveKeys } from '../../domain/attribute.ts';
import { Failure, requireAll } from '../../domain/failure.ts';
import { keyInPrefix, requireCompressedForPrefix } from '../../domain/source-file.ts';
import type { IdempotentRequest } from '../../domain/idempotency.ts';
import { type KeyType, pathType } from '../../domain/import-log.ts';
import { type Limits, openDeletesAboveLimit } from '../../domain/limits.ts';
import {
  type BucketCredentials,
  isRole,
  parsePartnerPath,
  requireKnownRegion,
  requireRoleArn,
} from '../../domain/partner-bucket.ts';
import type { Partner } from '../../domain/partner.ts';
import type { ImportLogStore, NewDelete, NewImport } from '../../ports/import-log-store.ts';

export type QueueImportDeps = {
  readonly importLogs: ImportLogStore;
  readonly limits: Limits;
  readonly canAssumeRoles: boolean;
};

/** Accepts an import. Throws immediately if the request is invalid. All other errors appear in the import log. */
export async function queueImport(
  deps: QueueImportDeps,
  partner: Partner,
  request: NewImport,
  idempotency: IdempotentRequest | null = null,
): Promise<number> {
  requireValidImport(deps, partner, request);
  return deps.importLogs.submitImport(partner.id, request, deps.limits.maxOpenJobs, idempotency);
}

export function requireValidImport(
  deps: Pick<QueueImportDeps, 'canAssumeRoles'>,
  partner: Partner,
  request: NewImport,
): void {
  requireAll([
    () => requirePath(partner, request),
    () => requireCredentials(deps, request),
    () => requireCompressedForPrefix(request.filePath, request.compressed),
  ]);
}

function requirePath({ prefix }: Partner, request: NewImport): void {
  if (request.pathType === pathType.partnerBucket) parsePartnerPath(request.filePath);
  else keyInPrefix(prefix, request.filePath);
}

export function requireCredentials(
  deps: Pick<QueueImportDeps, 'canAssumeRoles'>,
  request: Pick<NewImport, 'pathType' | 'credentials'>,
): void {
  const { credentials } = request;
  if (request.pathType === pathType.sharedBucket) {
    if (credentials) throw wrongCredentials('credentials_not_allowed', 'must be absent when path_type is 0.');
    return;
  }
  if (!credentials) throw wrongCredentials('credentials_required', 'is required when path_type is 1.');
  requireAll([() => requireKnownRegion(credentials.region), () => requireUsableRole(deps, credentials)]);
}

function requireUsableRole(deps: Pick<QueueImportDeps, 'canAssumeRoles'>, credentials: BucketCredentials): void {
  if (!isRole(credentials)) return;
  requireRoleArn(credentials.roleArn);
  if (deps.canAssumeRoles) return;
  const detail = 'This installation does not support roleArn. Send accessKeyId and secretAccessKey.';
  throw new Failure('roles_not_available', detail, { fields: [{ pointer: '/credentials/roleArn', detail }] });
}

function wrongCredentials(code: 'credentials_required' | 'credentials_not_allowed', rule: string): Failure {
  const detail = `credentials ${rule}`;
  return new Failure(code, detail, { fields: [{ pointer: '/credentials', detail }] });
}

export type QueueDeleteDeps = {
  readonly importLogs: ImportLogStore;
  readonly limits: Limits;
};

/** Accepts a request to delete all data of the given attributes, which can be retired. */
export async function queueDelete(
  deps: QueueDeleteDeps,
  partner: Partner,
  request: { readonly keyType: KeyType; readonly keys: readonly string[] },
  idempotency: IdempotentRequest | null = null,
): Promise<number> {
  const attributeIdsIn: NewDelete['attributeIdsIn'] = (attributes) =>
    attributesOfKeys(request.keys, resolveKeys(attributes, request.keyType));
  // Waiting imports must not prevent a partner from deleting data.
  const maxOpenJobs = deps.limits.maxOpenJobs + openDeletesAboveLimit;
  return deps.importLogs.submitDelete(partner.id, { ...request, attributeIdsIn }, maxOpenJobs, idempotency);
}
