import { operations } from '@inlet/contract/operations';
import { answerRecord } from '../answer-record.ts';
import { partnerOf } from '../authentication.ts';
import { notModified, recordHeaders } from '../follow-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';
import {
  type OneImportLogDeps,
  importLogExample,
  importLogIdParameter,
  noSuchImport,
  oneImportLog,
} from './import-log-record.ts';

export const getImportLogDocumentation: OperationDocumentation = {
  summary: 'Get an import log',
  description:
    'One import or delete, with its progress. It is final when `status` is 2 (done) or 3 (error). Refused rows do not make an import fail: they are counted in `errors`, at most 100 entries; all of them are in `GET …/errors`.',
  params: importLogIdParameter,
  headers: recordHeaders,
  answer: { description: 'The record.', example: importLogExample, isTagged: true },
  otherAnswers: notModified,
  failures: noSuchImport,
};

const { path, params, answer } = operations.getImportLog;

export function addGetImportLog(api: Api, deps: OneImportLogDeps): void {
  api.get(path, { schema: { params, response: { 200: answer } } }, (request, reply) =>
    answerRecord(request, reply, oneImportLog(deps, partnerOf(request), request.params.import_log_id)),
  );
}
