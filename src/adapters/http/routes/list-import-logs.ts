import { operations } from '@inlet/contract/operations';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { listImportLogs } from '../../../usecases/follow/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import { invalidPage, pageParameters } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { linkNext, readCursor } from '../paging.ts';
import type { Api } from '../api.ts';
import { importLogExample, importLogRecord } from './import-log-record.ts';

export const listImportLogsDocumentation: OperationDocumentation = {
  summary: 'List import logs',
  description: 'The last 100 imports and deletes of the partner, newest first. Older ones are on the pages behind.',
  query: pageParameters,
  answer: { description: 'A page of records.', example: [importLogExample], isPaged: true },
  failures: invalidPage,
};

const { path, query, answer } = operations.listImportLogs;

/** Newest first, so a cursor is the id before which the next page begins. */
export function addListImportLogs(api: Api, deps: { importLogs: ImportLogStore }): void {
  api.get(path, { schema: { querystring: query, response: { 200: answer } } }, async (request, reply) => {
    const { limit, cursor } = request.query;
    const [beforeId = Number.MAX_SAFE_INTEGER] = readCursor(cursor, 'imports', 1);
    const logs = await listImportLogs(deps, partnerOf(request), { beforeId, limit });
    const last = logs.at(-1);
    if (last && logs.length === limit) linkNext(request, reply, limit, { list: 'imports', place: [last.importLogId] });
    return logs.map(importLogRecord);
  });
}
