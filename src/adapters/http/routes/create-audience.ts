import { z } from 'zod';
import { requesterOf } from '../../../domain/audit.ts';
import { type WriteAudienceDeps, createAudience as create } from '../../../usecases/accept/write-audiences.ts';
import { callerOf, partnerOf, scopeOf } from '../authentication.ts';
import { invalidFilePath, invalidRequest, tooManyOpenJobs } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { createdAudienceSchema } from '../records/audience.ts';
import { audienceName, filePath } from '../schemas.ts';

const body = z
  .strictObject({
    name: audienceName,
    file_path: filePath.meta({
      description: "The path of a file, or a prefix of many files, relative to the partner's prefix.",
    }),
  })
  .meta({ id: 'CreateAudience' });

export const createAudience = defineRoute({
  id: 'createAudience',
  tag: 'audiences',
  method: 'POST',
  path: '/v2/firstparty/audience',
  scope: 'audience:write',
  summary: 'Create an audience',
  description:
    'Creates an audience and queues one file, or all files whose path starts with `file_path`. Names do not have to be unique. The `Location` header points to the audience, which shows its load status.',
  body,
  bodyExamples: {
    prefix: { summary: 'All files under a prefix', value: { name: 'Summer', file_path: 'acme/summer/' } },
    file: { summary: 'One file', value: { name: 'Winter', file_path: 'acme/winter.csv.gz' } },
  },
  response: {
    status: 201,
    description: 'The audience is created, and its files are queued.',
    schema: createdAudienceSchema,
    example: { audience_id: 1, default_warehouse_segment_id: 500001 },
    location: '/v2/firstparty/audience/1',
  },
  problems: {
    ...invalidRequest(
      { pointer: '/name', detail: 'name must not be empty.' },
      { pointer: '/file_path', detail: 'file_path is required.' },
    ),
    ...invalidFilePath,
    ...tooManyOpenJobs,
  },
  handler: (deps: WriteAudienceDeps & IdempotencyDeps) => async (request, reply) => {
    const { name, file_path } = request.body;
    const signedInCustomerId = callerOf(request).session?.customer?.id ?? null;
    const requestedBy = requesterOf(callerOf(request));
    const caller = { partner: partnerOf(request), scope: scopeOf(request), requestedBy, signedInCustomerId };
    const idempotent = idempotentRequestOf(deps, request, reply, caller.scope.customerId);
    const audience = { name, filePath: file_path };
    const { audienceId, warehouseSegmentId } = await create(deps, caller, audience, idempotent);
    request.log.info({ audienceId }, 'audience load accepted');
    // Use the path of this route, because the operation is also available at a deprecated path.
    reply.code(201).header('location', `${request.routeOptions.url}/${audienceId}`);
    return { audience_id: audienceId, default_warehouse_segment_id: warehouseSegmentId };
  },
});
