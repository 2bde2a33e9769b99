import { operations } from '@inlet/contract/operations';
import { answerRecord } from '../answer-record.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';
import { oneImportLog, type OneImportLogDeps } from './one-import-log.ts';

const { path, params, answer } = operations.getImportLog;

export function addGetImportLog(api: Api, deps: OneImportLogDeps): void {
  api.get(path, { schema: { params, response: { 200: answer } } }, (request, reply) =>
    answerRecord(request, reply, oneImportLog(deps, partnerOf(request), request.params.import_log_id)),
  );
}
