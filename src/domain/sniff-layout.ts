import { Failure } from './failure.ts';
import { fiveColumns, twoColumns, type ColumnName, type Delimiter, type RowLayout } from './row-layout.ts';
import { splitLine } from './split-line.ts';

/** What partners call the id column. A first line whose first field is one of these is a header. */
const headerNames = new Set([
  'id',
  'device_id',
  'deviceid',
  'advertising_id',
  'mobile_advertising_id',
  'maid',
  'ifa',
  'idfa',
  'aaid',
  'gaid',
  'adid',
]);

/** A few bad rows at the top do not hide the layout; a file that is something else altogether is told apart. */
const linesLookedAt = 100;

const utf16Marks = ['fffe', 'feff'];

/**
 * Reads the layout off the first bytes of a file (unpacked): the first line that can be read as one. Every other line
 * is then held to it. Bytes without any line in them say nothing: the engine will find the file empty.
 */
export function sniffLayout(head: Uint8Array): RowLayout {
  if (utf16Marks.some((mark) => hexOf(head.subarray(0, 2)) === mark)) {
    throw new Failure('wrong_encoding', 'The file begins with the byte-order mark of UTF-16.');
  }
  const lines = new TextDecoder('utf-8')
    .decode(head) // also strips a UTF-8 byte-order mark
    .split('\n')
    .map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  const firstIndex = lines.findIndex((line) => line !== '');
  const first = lines[firstIndex];
  if (first === undefined) return { delimiter: ',', columns: twoColumns, headerRow: null };
  const shape = lines
    .slice(firstIndex, firstIndex + linesLookedAt)
    .map(shapeOf)
    .find((found) => found !== null);
  if (!shape) {
    throw new Failure('wrong_shape', `None of the first lines has two or five columns, separated by commas or tabs.`);
  }
  const headerName = (splitLine(first, shape.delimiter)[0] ?? '').trim().toLowerCase();
  return { ...shape, headerRow: headerNames.has(headerName) ? firstIndex + 1 : null };
}

function shapeOf(line: string): { delimiter: Delimiter; columns: readonly ColumnName[] } | null {
  const delimiters: Delimiter[] = line.indexOf('\t') < line.indexOf(',') ? ['\t', ','] : [',', '\t'];
  for (const delimiter of line.includes('\t') ? delimiters : ([','] as const)) {
    const columns = columnsOf(splitLine(line, delimiter).length);
    if (columns) return { delimiter, columns };
  }
  return null;
}

function columnsOf(count: number): readonly ColumnName[] | null {
  return [twoColumns, fiveColumns].find(({ length }) => length === count) ?? null;
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
