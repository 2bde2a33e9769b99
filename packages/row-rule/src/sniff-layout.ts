import type { FileFault } from './file-faults.ts';
import { type ColumnName, type Delimiter, type RowLayout, splitLine } from './row-layout.ts';

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
const sniffedLines = 100;

/** Holds a line of the limit (100 kB) and more, so that a first line which is too long does not hide the layout. */
export const sniffedBytes = 262_144;

export type Shapes = readonly (readonly ColumnName[])[];

type Sniffed =
  | { readonly layout: RowLayout; readonly fault: null }
  | { readonly layout: null; readonly fault: FileFault };

const utf16Marks = ['fffe', 'feff'];

/**
 * Reads the layout off the first bytes of a file (unpacked): the first line that can be read as one. Every other line
 * is then held to it. Bytes without any line in them say nothing: the engine will find the file empty.
 */
export function sniffLayout(head: Uint8Array, shapes: Shapes): Sniffed {
  if (utf16Marks.some((mark) => hexOf(head.subarray(0, 2)) === mark)) {
    return refused({ code: 'wrong_encoding', detail: 'The file begins with the byte-order mark of UTF-16.' });
  }
  let row = 0;
  let first: { readonly line: string; readonly row: number } | null = null;
  for (const line of linesOf(head.subarray(0, sniffedBytes))) {
    row += 1;
    if (first === null && line !== '') first = { line, row };
    if (first === null) continue;
    const shape = shapeOf(line, shapes);
    if (shape) return known({ ...shape, headerRow: isHeader(first.line, shape.delimiter) ? first.row : null });
    if (row - first.row + 1 === sniffedLines) break;
  }
  if (first === null) return known({ delimiter: ',', columns: shapes[0] ?? [], headerRow: null });
  const counts = shapes.map(({ length }) => numberWords[length] ?? String(length)).join(' or ');
  const detail = `None of the first lines has ${counts} columns, separated by commas or tabs.`;
  return refused({ code: 'wrong_shape', detail });
}

function known(layout: RowLayout): Sniffed {
  return { layout, fault: null };
}

function refused(fault: FileFault): Sniffed {
  return { layout: null, fault };
}

const newline = 0x0a;

/** One after the other: of most files the first is enough. A byte-order mark of UTF-8 at the beginning is left out. */
function* linesOf(bytes: Uint8Array): Generator<string> {
  for (let start = 0, end = 0; end < bytes.length; start = end + 1) {
    const found = bytes.indexOf(newline, start);
    end = found < 0 ? bytes.length : found;
    const line = new TextDecoder('utf-8', { ignoreBOM: start > 0 }).decode(bytes.subarray(start, end));
    yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}

function isHeader(line: string, delimiter: Delimiter): boolean {
  return headerNames.has((splitLine(line, delimiter)[0] ?? '').trim().toLowerCase());
}

const numberWords: Readonly<Record<number, string>> = { 2: 'two', 5: 'five' };

function shapeOf(line: string, shapes: Shapes): { delimiter: Delimiter; columns: readonly ColumnName[] } | null {
  const delimiters: Delimiter[] = line.indexOf('\t') < line.indexOf(',') ? ['\t', ','] : [',', '\t'];
  for (const delimiter of line.includes('\t') ? delimiters : ([','] as const)) {
    const count = splitLine(line, delimiter).length;
    const columns = shapes.find(({ length }) => length === count);
    if (columns) return { delimiter, columns };
  }
  return null;
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
