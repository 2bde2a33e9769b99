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
  const beginning = `${nameOfJob(record)}: ${statusWord(record)}`;
  return [beginning, ...(record.status > 1 ? countsOf(record) : describeProgress(record))].join(', ');
}

/** Describes how far an open job or audience has progressed. */
export function describeProgress({ status, progress }: Pick<ImportLog, 'status' | 'progress'>): string[] {
  const { queue_position: ahead, percent, rows_read, estimated_seconds_left: left } = progress;
  if (status === 0 || ahead > 0) return [ahead === 0 ? 'next' : `${several(ahead, 'job')} ahead`];
  const known = left === null ? [] : [`${durationOf(left)} left`];
  return [`${Math.floor(percent)} %`, several(rows_read, 'row'), ...known];
}

/** Describes the status of a job with a progress bar. */
export function barOfImport(record: ImportLog, bytesPerSecond: number | null, columns: number): string {
  if (record.status !== 1) return describeImport(record);
  return progressLine(nameOfJob(record), record.progress, bytesPerSecond, columns);
}

/** Draws the progress of a running job or audience. The name must already be escaped. */
export function progressLine(
  name: string,
  { percent, rows_read, estimated_seconds_left: left }: ImportLog['progress'],
  bytesPerSecond: number | null,
  columns: number,
): string {
  const known = [
    several(rows_read, 'row'),
    ...(bytesPerSecond === null ? [] : [`${bytesOf(bytesPerSecond)}/s`]),
    ...(left === null ? [] : [`${durationOf(left)} left`]),
  ];
  return barLine(name, percent / 100, known, columns);
}

function countsOf(record: ImportLog): string[] {
  const rejected = rejectedRows(record);
  return [
    several(Number(record.total_rows), 'row'),
    several(Number(record.unique_devices), 'device'),
    ...(rejected === 0 ? [] : [`${several(rejected, 'row')} rejected`]),
  ];
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

/** Returns the status in a few words, for a table. */
export function stateOf(record: Pick<ImportLog, 'status' | 'progress'>): string {
  const { status, progress } = record;
  if (status === 1) return `running ${Math.floor(progress.percent)} %`;
  return status === 0 && progress.queue_position > 0 ? `pending, ${progress.queue_position} ahead` : statusWord(record);
}
