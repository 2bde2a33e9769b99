import { invalidPage, pageParameters } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { importLogId, noSuchImport } from './import-documentation.ts';

export const listImportFilesDocumentation: OperationDocumentation = {
  summary: 'List the files of an import',
  description:
    'Every file of the import, in the order of their paths, with what became of it. The list is empty until the import starts.',
  params: importLogId,
  query: pageParameters,
  answer: {
    description: 'A page of files.',
    example: [
      {
        file: 'with-bad-rows.csv',
        status: 2,
        total_rows: 3,
        rejected_rows: 1,
        bytes: 113,
        bytes_read: 113,
        error: null,
        updated_at: '2026-11-15T01:12:18.654Z',
      },
    ],
    isPaged: true,
  },
  failures: { ...noSuchImport, ...invalidPage },
};
