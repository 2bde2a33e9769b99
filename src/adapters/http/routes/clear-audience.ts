import { z } from 'zod';
import { requesterOf } from '../../../domain/audit.ts';
import { type WriteAudienceDeps, clearAudience as clear } from '../../../usecases/accept/write-audiences.ts';
import { callerOf, scopeOf } from '../authentication.ts';
import { audienceNotFound, invalidRequest } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { audienceParams } from '../schemas.ts';

export const clearAudience = defineRoute({
  id: 'clearAudience',
  tag: 'audiences',
  method: 'PUT',
  path: '/v2/firstparty/audience/:audience_id',
  scope: 'audience:write',
  summary: 'Clear an audience',
  description:
    'Empties the audience immediately, regardless of its size, and cancels loads in progress. Files appended after this call are loaded.',
  params: audienceParams,
  /** The specification defines no body fields. The body can be absent or an empty object. */
  body: z.strictObject({}).nullish().meta({ id: 'ClearAudience' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: { status: 204, description: 'The audience is empty.' },
  problems: {
    ...audienceNotFound,
    ...invalidRequest({ pointer: '/file_path', detail: 'Unknown field "file_path".' }),
  },
  handler: (deps: WriteAudienceDeps & IdempotencyDeps) => async (request, reply) => {
    const scope = scopeOf(request);
    const idempotent = idempotentRequestOf(deps, request, reply, scope.customerId);
    const audienceId = request.params.audience_id;
    await clear(deps, { scope, audienceId }, requesterOf(callerOf(request)), idempotent);
    return reply.code(204).send();
  },
});
