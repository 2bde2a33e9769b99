import type { AudienceScope } from '../../domain/audience.ts';
import type { IdempotentRequest } from '../../domain/idempotency.ts';
import type { Limits } from '../../domain/limits.ts';
import type { Partner } from '../../domain/partner.ts';
import { audienceKey } from '../../domain/source-file.ts';
import type { AudienceStore } from '../../ports/audience-store.ts';
import { noSuchAudience } from '../follow/read-audiences.ts';

export type WriteAudienceDeps = { readonly audiences: AudienceStore; readonly limits: Limits };

type Caller = { readonly partner: Partner; readonly scope: AudienceScope };

/** Creates an audience and queues its first files. Throws immediately if the request is invalid. */
export async function createAudience(
  deps: WriteAudienceDeps,
  { partner, scope }: Caller,
  request: { readonly name: string; readonly filePath: string },
  idempotency: IdempotentRequest | null = null,
): Promise<{ readonly audienceId: number; readonly warehouseSegmentId: number }> {
  const filePath = relativePath(partner, request.filePath);
  const { maxOpenJobs } = deps.limits;
  return deps.audiences.create(scope, { name: request.name, filePath, maxOpenJobs }, idempotency);
}

/** Returns the ID of the job that loads the files. */
export async function appendAudienceFiles(
  deps: WriteAudienceDeps,
  { partner, scope }: Caller,
  audienceId: number,
  filePath: string,
  idempotency: IdempotentRequest | null = null,
): Promise<number> {
  const load = { filePath: relativePath(partner, filePath), maxOpenJobs: deps.limits.maxOpenJobs };
  const jobId = await deps.audiences.append(scope, audienceId, load, idempotency);
  if (jobId === null) throw noSuchAudience(audienceId);
  return jobId;
}

export async function clearAudience(
  deps: WriteAudienceDeps,
  scope: AudienceScope,
  audienceId: number,
  idempotency: IdempotentRequest | null = null,
): Promise<void> {
  if (!(await deps.audiences.clear(scope, audienceId, idempotency))) throw noSuchAudience(audienceId);
}

/** Decision 25. The stored path is relative to the prefix, even if the request's path starts with the prefix. */
function relativePath({ prefix }: Partner, filePath: string): string {
  return audienceKey(prefix, filePath).slice(prefix.length);
}
