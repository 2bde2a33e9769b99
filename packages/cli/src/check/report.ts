import { type FileFaultCode, fileFaults } from '@inlet/row-rule/file-faults';
import { bytesOf, countOf, several } from '../terminal/format.ts';
import { paint } from '../terminal/output.ts';
import { type Column, table } from '../terminal/table.ts';
import { escapeTerminal } from '../terminal/text.ts';
import type { CheckedFile } from './check-file.ts';
import type { BadRow, CountedRows } from '@inlet/row-rule/row-counts';

/** Replacements for catalog remedies that refer to a record or a request. */
const checkRemedies: Partial<Record<FileFaultCode, string>> = {
  empty_file: 'The file has no rows. Check the program that creates it.',
  no_good_row: 'Correct the rows listed below.',
  bad_rows: 'Correct the rows listed below. An audience file is loaded completely or not at all.',
  compression_mismatch:
    'Pass --compressed or --no-compressed to match the file, or use the .gz extension for gzip files.',
};

/** The remedy for a file that would fail. */
function remedyOfFault(code: FileFaultCode | 'unreadable_file'): string {
  if (code === 'unreadable_file') return 'Check that the file exists and that you have permission to read it: ls -l';
  return checkRemedies[code] ?? fileFaults[code].remedy;
}

export function isGood({ fault, rows }: CheckedFile): boolean {
  return fault === null && rows.bad === 0;
}

/** Returns the JSON output. Values that the API also returns have the same field names. */
export function checkedJson(file: CheckedFile): Record<string, unknown> {
  const { path, bytes, layout, fault, rows } = file;
  return {
    path,
    ok: isGood(file),
    bytes,
    columns: layout?.columns ?? null,
    delimiter: layout?.delimiter ?? null,
    header_row: layout?.headerRow ?? null,
    total_rows: rows.good + rows.bad,
    good_rows: rows.good,
    bad_rows: rows.bad,
    failure: fault && { ...fault, remedy: remedyOfFault(fault.code) },
    reasons: rows.reasons,
    first_bad_rows: rows.firstBad,
  };
}

const reasonColumns: readonly Column<CountedRows['reasons'][number]>[] = [
  { title: 'REASON', of: ({ code }) => code },
  { title: 'ROWS', align: 'right', of: ({ count }) => countOf(count) },
  { title: 'FIRST LINE', align: 'right', of: ({ first_row }) => countOf(first_row) },
  { title: 'WHY', of: ({ message }) => message, canShrink: true },
];

const rowColumns: readonly Column<BadRow>[] = [
  { title: 'LINE', align: 'right', of: ({ row }) => countOf(row) },
  { title: 'REASON', of: ({ code }) => code },
  { title: 'TEXT', of: ({ text }) => text, canShrink: true },
];

export function checkedText(file: CheckedFile, stream: NodeJS.WriteStream): string {
  const { path, bytes, layout, fault, rows } = file;
  const total = rows.good + rows.bad;
  const isUnread = fault?.code === 'unreadable_file';
  const result = isUnread ? 'not checked' : fault ? 'would fail' : rows.bad > 0 ? 'has rejected rows' : 'valid';
  const color = fault ? 'red' : rows.bad > 0 ? 'yellow' : 'green';
  const counts = `${several(total, 'row')}, ${countOf(rows.good)} valid, ${countOf(rows.bad)} rejected, ${bytesOf(bytes)}`;
  return [
    `${paint(stream, 'bold', escapeTerminal(path))}: ${paint(stream, color, result)}`,
    ...(fault ? [`  ${fault.code}: ${fault.detail}`, `  remedy:  ${remedyOfFault(fault.code)}`] : []),
    ...(total > 0 ? [`  rows:    ${counts}`] : []),
    ...(layout ? [`  columns: ${describeLayout(layout)}`] : []),
    ...(rows.bad > 0 ? ['', table(reasonColumns, rows.reasons, stream)] : []),
    ...(rows.firstBad.length > 0 ? ['', 'First rejected rows:', table(rowColumns, rows.firstBad, stream)] : []),
  ].join('\n');
}

function describeLayout({ columns, delimiter, headerRow }: NonNullable<CheckedFile['layout']>): string {
  const separated = delimiter === ',' ? 'commas' : 'tabs';
  return `${columns.join(', ')}; separated by ${separated}; ${headerRow === null ? 'no header' : `header on line ${headerRow}`}`;
}
