import { z } from 'zod';
import { type WriteAudienceDeps, appendAudienceFiles } from '../../../usecases/accept/write-audiences.ts';
import { callerOf, partnerOf, scopeOf } from '../authentication.ts';
import { audienceNotFound, invalidFilePath, invalidRequest, tooManyOpenJobs } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { audienceParams, filePath } from '../schemas.ts';

const body = z
  .strictObject({
    file_path: filePath.meta({
      description: "The path of a file, or a prefix of many files, relative to the partner's prefix.",
    }),
  })
  .meta({ id: 'AppendFiles' });

export const appendFiles = defineRoute({
  id: 'appendFiles',
  tag: 'audiences',
  method: 'PATCH',
  path: '/v2/firstparty/audience/:audience_id',
  scope: 'audience:write',
  summary: 'Append files to an audience',
  description:
    'Queues more files and merges them into the audience. Each device is counted only once. Files that are already loaded are ignored. Files that failed or were overwritten are loaded again.',
  params: audienceParams,
  body,
  bodyExamples: { prefix: { summary: 'All files under a prefix', value: { file_path: 'acme/summer/' } } },
  response: { status: 204, description: 'The files are queued.' },
  problems: {
    ...audienceNotFound,
    ...invalidRequest({ pointer: '/file_path', detail: 'file_path must be a string.' }),
    ...invalidFilePath,
    ...tooManyOpenJobs,
  },
  handler: (deps: WriteAudienceDeps & IdempotencyDeps) => async (request, reply) => {
    const signedInCustomerId = callerOf(request).session?.customer?.id ?? null;
    const caller = { partner: partnerOf(request), scope: scopeOf(request), signedInCustomerId };
    const audienceId = request.params.audience_id;
    const idempotent = idempotentRequestOf(deps, request, reply, caller.scope.customerId);
    await appendAudienceFiles(deps, caller, audienceId, request.body.file_path, idempotent);
    request.log.info({ audienceId }, 'audience load accepted');
    return reply.code(204).send();
  },
});
