import { z } from 'zod';
import { requesterOf } from '../../../domain/audit.ts';
import { retryAppend as retry } from '../../../usecases/accept/change-appends.ts';
import type { WriteAudienceDeps } from '../../../usecases/accept/write-audiences.ts';
import { callerOf, scopeOf } from '../authentication.ts';
import { appendNotFound, invalidRequest, tooManyOpenJobs } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { queuedAppendSchema } from '../records/audience-history.ts';
import { appendParams, retriedFilesField } from '../schemas.ts';

export const retryAppend = defineRoute({
  id: 'retryAppend',
  tag: 'audiences',
  method: 'POST',
  path: '/v2/firstparty/audience/:audience_id/appends/:append_id/retry',
  scope: 'audience:write',
  summary: 'Retry a failed append',
  description:
    'Queues a failed or canceled append again, behind the jobs that are waiting. Files that are already loaded are ignored. With `files: "failed"`, only the files that failed or were canceled are loaded, except those that were dismissed. The history names the append that the new one repeats.',
  params: appendParams,
  body: z.strictObject({ files: retriedFilesField }).meta({ id: 'RetryAppend' }),
  bodyExamples: {
    failed: { summary: 'Only the failed files', value: { files: 'failed' } },
  },
  response: {
    status: 202,
    description: 'The append is queued again.',
    schema: queuedAppendSchema,
    example: { append_id: 2 },
  },
  problems: {
    ...appendNotFound,
    ...invalidRequest({ pointer: '/files', detail: 'files must be "all" or "failed".' }),
    invalid_file_path: { detail: 'file_path must start with "customers/31/", the folder of your uploads.' },
    append_not_retryable: { detail: 'Append 72 has not finished.' },
    ...tooManyOpenJobs,
  },
  handler: (deps: WriteAudienceDeps & IdempotencyDeps) => async (request, reply) => {
    const scope = scopeOf(request);
    const { audience_id: audienceId, append_id: appendId } = request.params;
    const idempotent = idempotentRequestOf(deps, request, reply, scope.customerId);
    const caller = callerOf(request);
    const how = {
      files: request.body.files ?? 'all',
      requestedBy: requesterOf(caller),
      signedInCustomerId: caller.session?.customer?.id ?? null,
    };
    const id = await retry(deps, { scope, audienceId, appendId }, how, idempotent);
    request.log.info({ audienceId, appendId: id }, 'append retried');
    reply.code(202);
    return { append_id: id };
  },
});
