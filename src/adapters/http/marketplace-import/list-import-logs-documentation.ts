import { invalidPage, pageParameters } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { importLogExample } from './import-documentation.ts';

export const listImportLogsDocumentation: OperationDocumentation = {
  summary: 'List import logs',
  description: 'The last 100 imports and deletes of the partner, newest first. Older ones are on the pages behind.',
  query: pageParameters,
  answer: { description: 'A page of records.', example: [importLogExample], isPaged: true },
  failures: invalidPage,
};
