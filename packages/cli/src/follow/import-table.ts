import type { ImportLog } from '@inlet/sdk';
import { countOf, timeOf } from '../terminal/numbers.ts';
import { statusPaint, statusWord } from '../terminal/status.ts';
import { table, type Column } from '../terminal/table.ts';
import { refusedRows, subjectOf } from './describe-import.ts';

const columns: readonly Column<ImportLog>[] = [
  { title: 'ID', align: 'right', of: ({ import_log_id }) => import_log_id },
  { title: 'STATUS', of: stateOf, paint: statusPaint },
  { title: 'WHAT', of: ({ log_type }) => (log_type === 1 ? 'delete' : 'import') },
  { title: 'PATH OR KEYS', of: subjectOf, canShrink: true },
  { title: 'ROWS', align: 'right', of: ({ total_rows }) => countOf(total_rows) },
  { title: 'REFUSED', align: 'right', of: (record) => countOf(refusedRows(record)) },
  { title: 'DEVICES', align: 'right', of: ({ unique_devices }) => countOf(unique_devices) },
  { title: 'CREATED (UTC)', of: ({ created_at }) => timeOf(created_at) },
];

export function importTable(
  records: readonly ImportLog[],
  stream: NodeJS.WriteStream,
  style?: 'painted' | 'plain',
): string {
  return table(columns, records, stream, style);
}

function stateOf(record: ImportLog): string {
  const { status, progress } = record;
  if (status === 1) return `running ${Math.floor(progress.percent)} %`;
  return status === 0 && progress.queue_position > 0 ? `pending, ${progress.queue_position} ahead` : statusWord(record);
}
