import { z } from 'zod';
import { requesterOf } from '../../../domain/audit.ts';
import {
  type WriteAudienceDeps,
  appendAudienceFiles,
  renameAudience,
} from '../../../usecases/accept/write-audiences.ts';
import { callerOf, partnerOf, scopeOf } from '../authentication.ts';
import { audienceNotFound, invalidFilePath, invalidRequest, tooManyOpenJobs } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { audienceName, audienceParams, filePath } from '../schemas.ts';

type Body = { readonly file_path?: string | undefined; readonly name?: string | undefined };

const isObject = ({ value }: { readonly value: unknown }): boolean => typeof value === 'object' && value !== null;

/** A request appends files or renames, never both, so that it cannot succeed only in part. */
const body = z
  .strictObject({
    file_path: filePath.optional().meta({
      description: "The path of a file, or a prefix of many files, relative to the partner's prefix.",
    }),
    name: audienceName.optional().meta({ description: 'The new name of the audience. Nothing is loaded.' }),
  })
  .refine(({ file_path, name }: Body) => file_path !== undefined || name !== undefined, {
    path: ['file_path'],
    error: 'file_path is required.',
    when: isObject,
  })
  .refine(({ file_path, name }: Body) => file_path === undefined || name === undefined, {
    path: ['name'],
    error: 'name must be absent when file_path is present.',
    when: isObject,
  })
  .meta({ id: 'AppendFiles', minProperties: 1, maxProperties: 1 });

export const appendFiles = defineRoute({
  id: 'appendFiles',
  tag: 'audiences',
  method: 'PATCH',
  path: '/v2/firstparty/audience/:audience_id',
  scope: 'audience:write',
  summary: 'Append files to an audience, or rename it',
  description:
    'With `file_path`, queues more files and merges them into the audience. Each device is counted only once. Files that are already loaded are ignored. Files that failed or were overwritten are loaded again. With `name`, renames the audience immediately. Send exactly one of the two.',
  params: audienceParams,
  body,
  bodyExamples: {
    prefix: { summary: 'All files under a prefix', value: { file_path: 'acme/summer/' } },
    name: { summary: 'A new name', value: { name: 'Summer 2026' } },
  },
  response: { status: 204, description: 'The files are queued, or the audience is renamed.' },
  problems: {
    ...audienceNotFound,
    ...invalidRequest({ pointer: '/file_path', detail: 'file_path must be a string.' }),
    ...invalidFilePath,
    ...tooManyOpenJobs,
  },
  handler: (deps: WriteAudienceDeps & IdempotencyDeps) => async (request, reply) => {
    const scope = scopeOf(request);
    const audienceId = request.params.audience_id;
    const { file_path, name } = request.body;
    const idempotent = idempotentRequestOf(deps, request, reply, scope.customerId);
    if (file_path === undefined) {
      await renameAudience(deps, { scope, audienceId }, name ?? '', idempotent);
      return reply.code(204).send();
    }
    const signedInCustomerId = callerOf(request).session?.customer?.id ?? null;
    const requestedBy = requesterOf(callerOf(request));
    const caller = { partner: partnerOf(request), scope, requestedBy, signedInCustomerId };
    await appendAudienceFiles(deps, caller, audienceId, file_path, idempotent);
    request.log.info({ audienceId }, 'audience load accepted');
    return reply.code(204).send();
  },
});
