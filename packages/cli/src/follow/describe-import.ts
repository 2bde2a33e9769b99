import type { ImportLog } from '@inlet/sdk';
import { bytesOf, countOf, durationOf, several, statusPaint, statusWord, timeOf } from '../terminal/format.ts';
import { barLine } from '../terminal/progress-bar.ts';
import { type Column, table } from '../terminal/table.ts';
import { escapeTerminal } from '../terminal/text.ts';

/** Returns `import 12` or `delete 13`. The ID is escaped, because the server sent it. */
export function nameOfJob({ import_log_id, log_type }: Pick<ImportLog, 'import_log_id' | 'log_type'>): string {
  return `${log_type === 1 ? 'delete' : 'import'} ${escapeTerminal(String(import_log_id))}`;
}

/** Returns the path of an import or the keys of a delete. */
export function subjectOf({ file_path, keys, log_type }: ImportLog): string {
  return log_type === 1 ? (keys ?? []).join(', ') : file_path;
}

/** Returns the number of rejected rows. Ignores entries without a row, which refer to a file or to the whole job. */
export function rejectedRows({ errors }: ImportLog): number {
  return (errors ?? []).reduce((sum, { row, count }) => (row === null ? sum : sum + count), 0);
}

/** Describes the status of a job in one line. */
export function describeImport(record: ImportLog): string {
  const { progress, status } = record;
  const beginning = `${nameOfJob(record)}: ${statusWord(record)}`;
  if (status === 0) {
    const ahead = progress.queue_position;
    return `${beginning}, ${ahead === 0 ? 'next' : `${several(ahead, 'job')} ahead`}`;
  }
  if (status > 1) return `${beginning}, ${countsOf(record)}`;
  const left = progress.estimated_seconds_left;
  return [
    beginning,
    `${Math.floor(progress.percent)} %`,
    several(progress.rows_read, 'row'),
    ...(left === null ? [] : [`${durationOf(left)} left`]),
  ].join(', ');
}

/** Describes the status of a job with a progress bar. */
export function barOfImport(record: ImportLog, bytesPerSecond: number | null, columns: number): string {
  if (record.status !== 1) return describeImport(record);
  const { percent, rows_read, estimated_seconds_left: left } = record.progress;
  const known = [
    several(rows_read, 'row'),
    ...(bytesPerSecond === null ? [] : [`${bytesOf(bytesPerSecond)}/s`]),
    ...(left === null ? [] : [`${durationOf(left)} left`]),
  ];
  return barLine(nameOfJob(record), percent / 100, known, columns);
}

function countsOf(record: ImportLog): string {
  const rejected = rejectedRows(record);
  return [
    several(Number(record.total_rows), 'row'),
    several(Number(record.unique_devices), 'device'),
    ...(rejected === 0 ? [] : [`${several(rejected, 'row')} rejected`]),
  ].join(', ');
}

/** Returns the location of an error. */
export function placeOf({ file, row }: { readonly file: string | null; readonly row: number | null }): string {
  if (file === null) return '-';
  return escapeTerminal(row === null ? file : `${file}:${row}`);
}

const columns: readonly Column<ImportLog>[] = [
  { title: 'ID', align: 'right', of: ({ import_log_id }) => import_log_id },
  { title: 'STATUS', of: stateOf, paint: statusPaint },
  { title: 'WHAT', of: ({ log_type }) => (log_type === 1 ? 'delete' : 'import') },
  { title: 'PATH OR KEYS', of: subjectOf, canShrink: true },
  { title: 'ROWS', align: 'right', of: ({ total_rows }) => countOf(total_rows) },
  { title: 'REJECTED', align: 'right', of: (record) => countOf(rejectedRows(record)) },
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
