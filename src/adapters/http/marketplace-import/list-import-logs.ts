import { operations } from '@inlet/contract/operations';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { listImportLogs } from '../../../usecases/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import { linkNext, readCursor } from '../paging.ts';
import type { Api } from '../server.ts';
import { importLogRecord } from './import-log-record.ts';

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
