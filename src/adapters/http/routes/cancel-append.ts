import { z } from 'zod';
import { cancelAppend as cancel } from '../../../usecases/accept/change-appends.ts';
import type { WriteAudienceDeps } from '../../../usecases/accept/write-audiences.ts';
import { scopeOf } from '../authentication.ts';
import { appendNotFound, invalidRequest } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { appendParams } from '../schemas.ts';

export const cancelAppend = defineRoute({
  id: 'cancelAppend',
  tag: 'audiences',
  method: 'POST',
  path: '/v2/firstparty/audience/:audience_id/appends/:append_id/cancel',
  scope: 'audience:write',
  summary: 'Cancel an append',
  description:
    'Cancels one append of an audience, or the load that created it. Files that have already been read completely are still loaded. All others are not loaded at all. Their entries get status 3 with the code `job_cancelled`. They can be retried or dismissed. The history says who canceled the append and when.',
  params: appendParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'CancelAppend' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: {
    status: 204,
    description: 'The append is canceled. Its result is final when the jobs ahead of it have ended.',
  },
  problems: {
    ...appendNotFound,
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
    append_not_cancelable: { detail: 'Append 72 is done.' },
  },
  handler: (deps: WriteAudienceDeps & IdempotencyDeps) => async (request, reply) => {
    const scope = scopeOf(request);
    const { audience_id: audienceId, append_id: appendId } = request.params;
    const idempotent = idempotentRequestOf(deps, request, reply, scope.customerId);
    await cancel(deps, { scope, audienceId, appendId }, idempotent);
    request.log.info({ audienceId, appendId }, 'append canceled');
    return reply.code(204).send();
  },
});
