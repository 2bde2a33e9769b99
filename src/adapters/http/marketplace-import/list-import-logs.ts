import { operations } from '@inlet/contract/operations';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { listImportLogs } from '../../../usecases/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';
import { importLogRecord } from './import-log-record.ts';

const { path, answer } = operations.listImportLogs;

export function addListImportLogs(api: Api, deps: { importLogs: ImportLogStore }): void {
  api.get(path, { schema: { response: { 200: answer } } }, async (request) =>
    (await listImportLogs(deps, partnerOf(request))).map(importLogRecord),
  );
}
