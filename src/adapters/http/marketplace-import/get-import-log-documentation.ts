import { notModified, recordHeaders } from '../follow-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { importLogExample, importLogId, noSuchImport } from './import-documentation.ts';

export const getImportLogDocumentation: OperationDocumentation = {
  summary: 'Get an import log',
  description:
    'One import or delete, with its progress. It is final when `status` is 2 (done) or 3 (error). Refused rows do not make an import fail: they are counted in `errors`, at most 100 entries; all of them are in `GET …/errors`.',
  params: importLogId,
  headers: recordHeaders,
  answer: { description: 'The record.', example: importLogExample, isTagged: true },
  otherAnswers: notModified,
  failures: noSuchImport,
};
