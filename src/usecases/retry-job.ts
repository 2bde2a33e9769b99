import { Failure } from '../domain/failure.ts';
import { pathType } from '../domain/import-log.ts';
import { jobStatus } from '../domain/job.ts';
import type { JobRequest, Operations } from '../ports/operations.ts';
import { noSuchJob } from './no-such-job.ts';
import { queueImport, type QueueImportDeps } from './queue-import.ts';
import { appendAudienceFiles, type WriteAudienceDeps } from './write-audiences.ts';

export type RetryJobDeps = QueueImportDeps & WriteAudienceDeps & { readonly operations: Operations };

/** Asks for the same again on behalf of the partner, at the end of its lane. Gives the id of the new job. */
export async function retryJob(deps: RetryJobDeps, jobId: number): Promise<number> {
  const found = await deps.operations.findRequest(jobId);
  if (!found) throw noSuchJob(jobId);
  const reason = whyNot(found);
  if (reason !== null) throw new Failure('job_not_retryable', `Job ${jobId} ${reason}.`);
  const { partner, asked } = found;
  if (asked.kind === 'import') return queueImport(deps, partner, { ...asked.request, credentials: null });
  if (asked.kind === 'delete') throw new Error(`job ${jobId} is a delete`);
  // With the prefix, which is taken away again: the path may by itself begin with the same letters.
  const filePath = partner.prefix + asked.filePath;
  return appendAudienceFiles(deps, { partner, scope: asked.scope }, asked.audienceId, filePath);
}

function whyNot({ status, asked }: JobRequest): string | null {
  if (status === jobStatus.done) return 'is done: there is nothing to do again';
  if (status !== jobStatus.failed) return 'has not ended; it goes on by itself';
  // At a later place it would also remove what was imported since, for good.
  if (asked.kind === 'delete') return 'is a delete: only the partner can say what is to go now, by another delete';
  if (asked.kind === 'import' && asked.request.pathType === pathType.partnerBucket)
    return 'read a bucket of the partner, whose credentials were wiped when it ended: the partner must send the import again';
  if (asked.kind === 'audience' && asked.isCleared)
    return `was for audience ${asked.audienceId} before it was cleared: what is to be in it now only the partner can say, by an append`;
  return null;
}
