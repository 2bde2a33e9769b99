import { z } from 'zod';
import { type WriteAudienceDeps, dismissAudienceFile } from '../../../usecases/accept/write-audiences.ts';
import { scopeOf } from '../authentication.ts';
import { audienceNotFound, invalidRequest } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { audienceFileParams } from '../schemas.ts';

export const dismissFile = defineRoute({
  id: 'dismissFile',
  tag: 'audiences',
  method: 'DELETE',
  path: '/v2/firstparty/audience/:audience_id/files/:file_id',
  scope: 'audience:write',
  summary: 'Dismiss a failed audience file',
  description:
    'Marks a failed entry in the file list as dismissed. It stays in the list but no longer affects the status of the audience. Nothing is loaded or removed.',
  params: audienceFileParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'DismissFile' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: { status: 204, description: 'The entry is dismissed.' },
  problems: {
    ...audienceNotFound,
    ...invalidRequest({ pointer: '/file_id', detail: 'Unknown field "file_id".' }),
    file_not_failed: { detail: 'File entry 71 has not failed, so it cannot be dismissed.' },
  },
  handler: (deps: WriteAudienceDeps & IdempotencyDeps) => async (request, reply) => {
    const scope = scopeOf(request);
    const { audience_id: audienceId, file_id: fileId } = request.params;
    const idempotent = idempotentRequestOf(deps, request, reply, scope.customerId);
    await dismissAudienceFile(deps, scope, audienceId, fileId, idempotent);
    return reply.code(204).send();
  },
});
