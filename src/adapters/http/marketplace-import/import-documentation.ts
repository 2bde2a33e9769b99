import type { ImportLogRecord } from '@inlet/contract/import-log';
import type { DocumentedFailures } from '../operation-documentation.ts';

// What the operations on imports have in common.

export const importLogId = {
  import_log_id: { description: 'The id that the import or the delete was answered with.', example: 1 },
};

export const noSuchImport: DocumentedFailures = { not_found: { detail: 'There is no import log 1.' } };

export const importLogExample: ImportLogRecord = {
  import_log_id: 1,
  file_path: 'with-bad-rows.csv',
  path_type: 0,
  key_type: 1,
  status: 2,
  log_type: 0,
  keys: null,
  unique_devices: '2',
  total_rows: '3',
  errors: [
    {
      code: 'invalid_id',
      message: 'The advertising id is not of the form 8-4-4-4-12 hexadecimal digits.',
      file: 'with-bad-rows.csv',
      row: 2,
      column: 'id',
      count: 1,
    },
  ],
  created_at: '2026-11-15T01:12:18.268Z',
  updated_at: '2026-11-15T01:12:18.654Z',
  progress: {
    bytes_read: 113,
    bytes_total: 113,
    percent: 100,
    rows_read: 3,
    queue_position: 0,
    estimated_seconds_left: 0,
  },
};
