import { type FileFaultCode, fileFaults } from '@inlet/row-rule/file-faults';
import { bytesOf, countOf, several } from '../terminal/format.ts';
import { paint } from '../terminal/output.ts';
import { type Column, table } from '../terminal/table.ts';
import { escapeTerminal } from '../terminal/text.ts';
import type { CheckedFile } from './check-file.ts';
import type { BadRow, CountedRows } from './row-counts.ts';

/** Where the catalogue speaks of a record or of a request: here the reasons are on the screen, and there are flags. */
const remediesHere: Partial<Record<FileFaultCode, string>> = {
  empty_file: 'See how the file was made: it has no row.',
  no_good_row: 'The reasons are told below: correct the file.',
  bad_rows: 'The reasons are told below: correct the file. An audience takes a file whole or not at all.',
  compression_mismatch: 'Say --compressed or --no-compressed as the file is, or let .gz at the end of its name tell.',
};

/** What a person at this command line does about a file that would fail. */
function remedyOfFault(code: FileFaultCode | 'unreadable_file'): string {
  if (code === 'unreadable_file') return 'See that it is there and who may read it with: ls -l';
  return remediesHere[code] ?? fileFaults[code].remedy;
}

export function isGood({ fault, rows }: CheckedFile): boolean {
  return fault === null && rows.bad === 0;
}

/** For scripts; the names are those of the api where it has the same. */
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
  const verdict = isUnread ? 'not judged' : fault ? 'would fail' : rows.bad > 0 ? 'has bad rows' : 'good';
  const colour = fault ? 'red' : rows.bad > 0 ? 'yellow' : 'green';
  const counts = `${several(total, 'row')}, ${countOf(rows.good)} good, ${countOf(rows.bad)} bad, ${bytesOf(bytes)}`;
  return [
    `${paint(stream, 'bold', escapeTerminal(path))}: ${paint(stream, colour, verdict)}`,
    ...(fault ? [`  ${fault.code}: ${fault.detail}`, `  remedy:  ${remedyOfFault(fault.code)}`] : []),
    ...(total > 0 ? [`  rows:    ${counts}`] : []),
    ...(layout ? [`  columns: ${describeLayout(layout)}`] : []),
    ...(rows.bad > 0 ? ['', table(reasonColumns, rows.reasons, stream)] : []),
    ...(rows.firstBad.length > 0 ? ['', `The first bad rows:`, table(rowColumns, rows.firstBad, stream)] : []),
  ].join('\n');
}

function describeLayout({ columns, delimiter, headerRow }: NonNullable<CheckedFile['layout']>): string {
  const separated = delimiter === ',' ? 'commas' : 'tabs';
  return `${columns.join(', ')}; separated by ${separated}; ${headerRow === null ? 'no header' : `header in line ${headerRow}`}`;
}
