import { operations } from '@inlet/contract/operations';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { getImportLog } from '../../../usecases/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';
import { importLogRecord } from './import-log-record.ts';

const { path, params, answer } = operations.getImportLog;

export function addGetImportLog(api: Api, deps: { importLogs: ImportLogStore }): void {
  api.get(path, { schema: { params, response: { 200: answer } } }, async (request) =>
    importLogRecord(await getImportLog(deps, partnerOf(request), request.params.import_log_id)),
  );
}
