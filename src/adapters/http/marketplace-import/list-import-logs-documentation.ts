import type { OperationDocumentation } from '../operation-documentation.ts';
import { importLogExample } from './import-documentation.ts';

export const listImportLogsDocumentation: OperationDocumentation = {
  summary: 'List import logs',
  description: 'The last 100 imports and deletes of the partner, newest first.',
  answer: { description: 'The records.', example: [importLogExample] },
  failures: {},
};
