import { importLogIdSchema, importLogSchema } from '@inlet/contract/import-log';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { getImportLog } from '../../../usecases/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';
import { importLogRecord } from './import-log-record.ts';
import { path } from './queued-answer.ts';

export function addGetImportLog(api: Api, deps: { importLogs: ImportLogStore }): void {
  api.get(
    `${path}/:import_log_id`,
    { schema: { params: importLogIdSchema, response: { 200: importLogSchema } } },
    async (request) => importLogRecord(await getImportLog(deps, partnerOf(request), request.params.import_log_id)),
  );
}
