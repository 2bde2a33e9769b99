import { type AudienceScope, parseEntryId } from '../../domain/audience.ts';
import { Failure } from '../../domain/failure.ts';
import type { IdempotentRequest } from '../../domain/idempotency.ts';
import type { Limits } from '../../domain/limits.ts';
import type { Partner } from '../../domain/partner.ts';
import { type AudiencePath, audiencePath, relativeAudiencePath } from '../../domain/source-file.ts';
import { requireOwnFolder } from '../../domain/upload.ts';
import type { AudienceStore } from '../../ports/audience-store.ts';
import { noSuchAudience } from '../follow/read-audiences.ts';

export type WriteAudienceDeps = { readonly audiences: AudienceStore; readonly limits: Limits };

type Caller = {
  readonly partner: Partner;
  readonly scope: AudienceScope;
  /** Named in the history of the audience. Absent for the operator. */
  readonly requestedBy?: string;
  /** The customer that is signed in to the console. Null if the partner's program makes the call. */
  readonly signedInCustomerId: number | null;
};

function pathFor({ partner, signedInCustomerId }: Caller, filePath: string): AudiencePath {
  if (signedInCustomerId === null) return audiencePath(partner.prefix, filePath);
  requireOwnFolder(signedInCustomerId, filePath);
  return relativeAudiencePath(partner.prefix, filePath);
}

/** Creates an audience and queues its first files. Throws immediately if the request is invalid. */
export async function createAudience(
  deps: WriteAudienceDeps,
  caller: Caller,
  request: { readonly name: string; readonly filePath: string },
  idempotency: IdempotentRequest | null = null,
): Promise<{ readonly audienceId: number; readonly warehouseSegmentId: number }> {
  const path = pathFor(caller, request.filePath);
  const { maxOpenJobs } = deps.limits;
  return deps.audiences.create(
    caller.scope,
    { name: request.name, path, maxOpenJobs, ...by(caller.requestedBy) },
    idempotency,
  );
}

/** Returns the ID of the job that loads the files. */
export async function appendAudienceFiles(
  deps: WriteAudienceDeps,
  caller: Caller,
  audienceId: number,
  filePath: string,
  idempotency: IdempotentRequest | null = null,
): Promise<number> {
  const { maxOpenJobs } = deps.limits;
  const load = { path: pathFor(caller, filePath), maxOpenJobs, ...by(caller.requestedBy) };
  const jobId = await deps.audiences.append(caller.scope, audienceId, load, idempotency);
  if (jobId === null) throw noSuchAudience(audienceId);
  return jobId;
}

function by(requestedBy: string | undefined): { readonly requestedBy?: string } {
  return requestedBy === undefined ? {} : { requestedBy };
}

type Owned = { readonly scope: AudienceScope; readonly audienceId: number };

export async function clearAudience(
  deps: Pick<WriteAudienceDeps, 'audiences'>,
  { scope, audienceId }: Owned,
  requestedBy: string,
  idempotency: IdempotentRequest | null = null,
): Promise<void> {
  if (!(await deps.audiences.clear(scope, audienceId, idempotency, requestedBy))) throw noSuchAudience(audienceId);
}

/** Names do not have to be unique. Loads and reports are not affected. */
export async function renameAudience(
  deps: Pick<WriteAudienceDeps, 'audiences'>,
  { scope, audienceId }: Owned,
  name: string,
  idempotency: IdempotentRequest | null = null,
): Promise<void> {
  if (!(await deps.audiences.rename(scope, audienceId, name, idempotency))) throw noSuchAudience(audienceId);
}

/** Cancels open loads as a clear does. The devices are purged in the background. */
export async function deleteAudience(
  deps: Pick<WriteAudienceDeps, 'audiences'>,
  { scope, audienceId }: Owned,
  requestedBy: string,
  idempotency: IdempotentRequest | null = null,
): Promise<void> {
  if (!(await deps.audiences.remove(scope, audienceId, idempotency, requestedBy))) throw noSuchAudience(audienceId);
}

/** Decision 5: a dismissed entry stays in the list but no longer affects the status. */
export async function dismissAudienceFile(
  deps: WriteAudienceDeps,
  scope: AudienceScope,
  audienceId: number,
  entryId: string,
  idempotency: IdempotentRequest | null = null,
): Promise<void> {
  const entry = parseEntryId(entryId);
  const result = entry ? await deps.audiences.dismissFile(scope, audienceId, entry, idempotency) : 'not found';
  if (result === 'not found') throw new Failure('not_found', `Audience ${audienceId} has no file entry "${entryId}".`);
  if (result === 'not failed')
    throw new Failure('file_not_failed', `File entry ${entryId} has not failed, so it cannot be dismissed.`);
}
