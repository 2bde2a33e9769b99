import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { listImportLogs as list } from '../../../usecases/follow/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import { invalidPage } from '../documentation.ts';
import { importListQuery } from '../list-filters.ts';
import { defineRoute } from '../operation.ts';
import { pageOf, readCursor } from '../paging.ts';
import { importLogExample, importLogListSchema, importLogRecord } from '../records/import-log.ts';

export const listImportLogs = defineRoute({
  id: 'listImportLogs',
  tag: 'imports',
  method: 'GET',
  path: '/v1/marketplace/import',
  scope: 'marketplace:read',
  summary: 'List import logs',
  description: "Lists the partner's imports and deletes, newest first. A page contains 100 entries by default.",
  query: importListQuery,
  response: {
    status: 200,
    description: 'A page of import logs.',
    schema: importLogListSchema,
    example: [importLogExample],
    isPaged: true,
  },
  problems: invalidPage(100),
  handler: (deps: { readonly importLogs: ImportLogStore }) => async (request, reply) => {
    const { limit, cursor, status: statuses, log_type, path, created_from, created_to } = request.query;
    const [beforeId = Number.MAX_SAFE_INTEGER] = readCursor(cursor, 'imports', 1);
    const filter = {
      statuses,
      logType: log_type,
      pathPrefix: path,
      createdFrom: created_from,
      createdTo: created_to,
    };
    const items = await list(deps, partnerOf(request), { beforeId, limit: limit + 1, filter });
    return pageOf(request, reply, { list: 'imports', limit, items }, ({ importLogId }) => [importLogId]).map(
      importLogRecord,
    );
  },
});
