import type { AudienceStore, FilePosition } from '../../../ports/audience-store.ts';
import { listAudienceFiles as list, maxFilesShown } from '../../../usecases/follow/read-audiences.ts';
import { scopeOf } from '../authentication.ts';
import { audienceNotFound, invalidPage } from '../documentation.ts';
import { fileListQuery } from '../list-filters.ts';
import { defineRoute } from '../operation.ts';
import { type Cursor, linkNext, readCursor } from '../paging.ts';
import { audienceFileExample, audienceFileListSchema, audienceFileRecord } from '../records/audience.ts';
import { audienceParams } from '../schemas.ts';

const listName = 'audience files';

export function audienceFilesAfter(position: FilePosition): Cursor {
  return { list: listName, position };
}

export const listAudienceFiles = defineRoute({
  id: 'listAudienceFiles',
  tag: 'audiences',
  method: 'GET',
  path: '/v2/firstparty/audience/:audience_id/files',
  scope: 'audience:read',
  summary: 'List the files of an audience',
  description:
    'Lists every loaded version of a file, the newest failed attempt of each file, and paths that are waiting or failed, in submission order.',
  params: audienceParams,
  query: fileListQuery(maxFilesShown),
  response: {
    status: 200,
    description: 'A page of file entries.',
    schema: audienceFileListSchema,
    example: [audienceFileExample],
    isPaged: true,
  },
  problems: { ...audienceNotFound, ...invalidPage(maxFilesShown) },
  handler: (deps: { readonly audiences: AudienceStore }) => async (request, reply) => {
    const { limit, cursor, status: statuses } = request.query;
    const [jobId = 0, fileId = 0] = readCursor(cursor, listName, 2);
    const page = { after: [jobId, fileId], limit, statuses } as const;
    const { files, next } = await list(deps, scopeOf(request), request.params.audience_id, page);
    if (next !== null) linkNext(request, reply, limit, audienceFilesAfter(next));
    return files.map(audienceFileRecord);
  },
});
