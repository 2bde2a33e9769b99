import { importLogListSchema } from '@inlet/contract/import-log';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { listImportLogs } from '../../../usecases/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';
import { importLogRecord } from './import-log-record.ts';
import { path } from './queued-answer.ts';

export function addListImportLogs(api: Api, deps: { importLogs: ImportLogStore }): void {
  api.get(path, { schema: { response: { 200: importLogListSchema } } }, async (request) =>
    (await listImportLogs(deps, partnerOf(request))).map(importLogRecord),
  );
}
