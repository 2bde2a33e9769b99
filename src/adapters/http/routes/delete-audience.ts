import { z } from 'zod';
import { requesterOf } from '../../../domain/audit.ts';
import { type WriteAudienceDeps, deleteAudience as remove } from '../../../usecases/accept/write-audiences.ts';
import { callerOf, scopeOf } from '../authentication.ts';
import { audienceNotFound, invalidRequest } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { audienceParams } from '../schemas.ts';

export const deleteAudience = defineRoute({
  id: 'deleteAudience',
  tag: 'audiences',
  method: 'DELETE',
  path: '/v2/firstparty/audience/:audience_id',
  scope: 'audience:write',
  summary: 'Delete an audience',
  description:
    'Permanently deletes an audience with its devices, reports, and history, and cancels loads in progress. Every request for the audience then gets 404. The files stay in the storage.',
  params: audienceParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'DeleteAudience' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: { status: 204, description: 'The audience is deleted.' },
  problems: {
    ...audienceNotFound,
    ...invalidRequest({ pointer: '/name', detail: 'Unknown field "name".' }),
  },
  handler: (deps: WriteAudienceDeps & IdempotencyDeps) => async (request, reply) => {
    const scope = scopeOf(request);
    const audienceId = request.params.audience_id;
    const idempotent = idempotentRequestOf(deps, request, reply, scope.customerId);
    await remove(deps, { scope, audienceId }, requesterOf(callerOf(request)), idempotent);
    request.log.info({ audienceId }, 'audience deleted');
    return reply.code(204).send();
  },
});
