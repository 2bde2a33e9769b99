import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { listImportFiles as list } from '../../../usecases/follow/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import { importLogNotFound, invalidPage } from '../documentation.ts';
import { fileListQuery } from '../list-filters.ts';
import { defineRoute } from '../operation.ts';
import { pageOf, readCursor } from '../paging.ts';
import { importFileListSchema, importFileRecord } from '../records/import-log.ts';
import { importLogParams } from '../schemas.ts';

export const listImportFiles = defineRoute({
  id: 'listImportFiles',
  tag: 'imports',
  method: 'GET',
  path: '/v1/marketplace/import/:import_log_id/files',
  scope: 'marketplace:read',
  summary: 'List the files of an import',
  description:
    'Lists every file of the import with its result, ordered by path. The list is empty until the import starts.',
  params: importLogParams,
  query: fileListQuery(1000),
  response: {
    status: 200,
    description: 'A page of files.',
    schema: importFileListSchema,
    example: [
      {
        file: 'with-bad-rows.csv',
        status: 2,
        total_rows: 3,
        rejected_rows: 1,
        suppressed: 0,
        bytes: 113,
        bytes_read: 113,
        last_modified: '2026-11-15T01:10:44.000Z',
        error: null,
        updated_at: '2026-11-15T01:12:18.654Z',
      },
    ],
    isPaged: true,
  },
  problems: { ...importLogNotFound, ...invalidPage(1000) },
  handler: (deps: { readonly importLogs: ImportLogStore }) => async (request, reply) => {
    const { limit, cursor, status: statuses } = request.query;
    const [afterId = 0] = readCursor(cursor, 'import files', 1);
    const page = { afterId, limit: limit + 1, statuses };
    const items = await list(deps, partnerOf(request), request.params.import_log_id, page);
    return pageOf(request, reply, { list: 'import files', limit, items }, ({ id }) => [id]).map(importFileRecord);
  },
});
