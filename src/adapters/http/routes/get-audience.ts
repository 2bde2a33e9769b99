import { z } from 'zod';
import type { AudienceScope } from '../../../domain/audience.ts';
import type { AudienceStore } from '../../../ports/audience-store.ts';
import type { FollowedRecords } from '../../../usecases/follow/followed-records.ts';
import {
  type AudienceDetails,
  getAudience as get,
  maxFilesShown,
  noSuchAudience,
} from '../../../usecases/follow/read-audiences.ts';
import { scopeOf } from '../authentication.ts';
import { type Resource, answerConditionalGet, memoizeRepresentation } from '../conditional-get.ts';
import { audienceNotFound, conditionalGetHeaders, invalidQuery, notModified } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { linkTo } from '../paging.ts';
import {
  type AudienceDetailsRecord,
  audienceDetailsExample,
  audienceDetailsRecord,
  audienceDetailsSchema,
} from '../records/audience.ts';
import { audienceParams } from '../schemas.ts';
import { audienceFilesAfter } from './list-audience-files.ts';

export type AudienceDeps = {
  readonly audiences: AudienceStore;
  readonly following: Pick<FollowedRecords, 'audiences'>;
};

/** A page of the console that needs only the name and counts would otherwise load up to 350 kB of file entries. */
export const audienceQuery = z.strictObject({
  include_files: z.enum(['true', 'false']).default('true').meta({
    description: '`false` leaves `file` empty, for callers that need only the status and the counts.',
    example: 'false',
  }),
});

export const invalidIncludeFiles = invalidQuery('include_files', 'include_files must be true or false.');

export const getAudience = defineRoute({
  id: 'getAudience',
  tag: 'audiences',
  method: 'GET',
  path: '/v2/firstparty/audience/:audience_id',
  scope: 'audience:read',
  summary: 'Get the details of an audience',
  description:
    'Returns the status, counts, and files of an audience. The status is derived from the files. It is 1 while any file is loading, 0 while files are waiting, 3 if any file failed, and otherwise 2. A dismissed entry does not count. A path that matched no files counts only until a later append has finished. `file` contains the first 1,000 entries, and a `Link` header points to the others.',
  params: audienceParams,
  query: audienceQuery,
  headers: conditionalGetHeaders,
  response: {
    status: 200,
    description: 'The audience.',
    schema: audienceDetailsSchema,
    example: audienceDetailsExample,
    isConditional: true,
    isPaged: true,
  },
  otherResponses: notModified,
  problems: {
    ...audienceNotFound,
    ...invalidIncludeFiles,
  },
  handler: (deps: AudienceDeps) => (request, reply) =>
    answerConditionalGet(
      request,
      reply,
      audienceResource(deps, scopeOf(request), request.params.audience_id, request.query),
    ),
});

export function audienceResource(
  deps: AudienceDeps,
  scope: AudienceScope,
  audienceId: number,
  { include_files }: z.infer<typeof audienceQuery>,
): Resource<AudienceDetails, AudienceDetailsRecord> {
  const hasFiles = include_files === 'true';
  return {
    read: () => get(deps, scope, audienceId, hasFiles),
    subscribe: (interest) => deps.following.audiences.follow({ scope, audienceId, hasFiles }, interest),
    notFound: () => noSuchAudience(audienceId),
    represent,
  };
}

const represent = memoizeRepresentation(audienceDetailsRecord, undefined, ({ audience, next }) =>
  next === null
    ? null
    : linkTo(`/v2/firstparty/audience/${audience.id}/files`, maxFilesShown, audienceFilesAfter(next)),
);
