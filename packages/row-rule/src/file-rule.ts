import type { FileFault } from './file-faults.ts';
import {
  type ColumnName,
  type RejectReason,
  type Delimiter,
  type RowLayout,
  advertisingIdPattern,
  splitLine,
} from './row-rule.ts';

/** Limits for one file (decision 32). The operator can configure them. */
export type FileLimits = {
  readonly maxLineBytes: number;
  readonly maxGzipFileBytes: number;
  readonly maxPlainFileBytes: number;
};

export const defaultFileLimits: FileLimits = {
  maxLineBytes: 102_400,
  maxGzipFileBytes: 5_000_000_000,
  maxPlainFileBytes: 50_000_000_000,
};

export function hasGzipName(name: string): boolean {
  return name.toLowerCase().endsWith('.gz');
}

export function startsLikeGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export const noBytes: FileFault = { code: 'empty_file', detail: 'The file is empty (0 bytes).' };

/** Decision 15: the declared compression must match the first bytes. Null means that no compression was declared. */
export function faultOfCompression(expected: boolean | null, found: boolean): FileFault | null {
  if (expected === null || expected === found) return null;
  const detail = expected
    ? 'The file is not gzip, but "compressed" is true, or it is not set and the file name ends in .gz.'
    : 'The file is gzip, but "compressed" is false, or it is not set and the file name does not end in .gz.';
  return { code: 'compression_mismatch', detail };
}

export function faultOfSize(size: number, isGzip: boolean, limits: FileLimits): FileFault | null {
  const limit = isGzip ? limits.maxGzipFileBytes : limits.maxPlainFileBytes;
  if (size <= limit) return null;
  return { code: 'file_too_large', detail: `The file has ${size} bytes; the limit is ${limit}.` };
}

export function unpackedTooLarge({ maxPlainFileBytes }: FileLimits): FileFault {
  return { code: 'unpacked_too_large', detail: `The file decompresses to more than ${maxPlainFileBytes} bytes.` };
}

export const brokenGzip: FileFault = { code: 'corrupt_gzip', detail: 'The gzip data is truncated or corrupt.' };

export const trailingBytes: FileFault = {
  code: 'corrupt_gzip',
  detail: 'The gzip data is followed by bytes that are not gzip.',
};

export const lineOutOfBounds: FileFault = {
  code: 'line_out_of_bounds',
  detail: 'A line in the file is larger than the maximum load size.',
};

type RejectCount = { readonly reason: RejectReason; readonly rows: number; readonly firstRow: number };
/** The row counts of one file. */
export type LoadCounts = { readonly accepted: number; readonly rejects: readonly RejectCount[] };

export const noRows: LoadCounts = { accepted: 0, rejects: [] };

export function rejectedRows({ rejects }: LoadCounts): number {
  return rejects.reduce((sum, { rows }) => sum + rows, 0);
}

/** `optOuts` are rejected rows that do not count against the file. `rejected` does not include them. */
type Rows = { readonly accepted: number; readonly rejected: number; readonly optOuts: number };

/** Decision 16: an all-zero ID means that the user has opted out of tracking. It never fails an audience file. */
export function rowsOf(counts: LoadCounts, isAudience: boolean): Rows {
  const zeroIds = counts.rejects.find(({ reason }) => reason === 'zero_id')?.rows ?? 0;
  const optOuts = isAudience ? zeroIds : 0;
  return { accepted: counts.accepted, rejected: rejectedRows(counts) - optOuts, optOuts };
}

/** Decision 16: marketplace imports skip any number of rejected rows. By default, an audience file must not have any. */
export const badRowShares = { marketplace: 1, audience: 0 } as const;

/** Decisions 16 and 17: a file fails if it has no valid row, or if more than the given share of its rows is rejected. */
export function faultOfRows({ accepted, rejected, optOuts }: Rows, badRowShare: number): FileFault | null {
  const total = accepted + rejected + optOuts;
  if (total === 0) return { code: 'empty_file', detail: 'The file has no data rows.' };
  if (accepted === 0 && rejected > 0) return { code: 'no_good_row', detail: `All ${total} rows were rejected.` };
  if (rejected <= badRowShare * total) return null;
  const limit = badRowShare === 0 ? '0' : `${badRowShare * 100}%`;
  const were = rejected === 1 ? 'was' : 'were';
  const detail = `${rejected} of ${total} rows ${were} rejected; the limit for your account is ${limit}.`;
  return { code: 'bad_rows', detail };
}

/** Common names for the ID column. The first line is a header if its first field is one of these. */
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

/**
 * Number of lines to examine. It is large enough that a few invalid rows at the top do not hide the layout, and small
 * enough to detect a different format early.
 */
const sniffedLines = 100;

/**
 * Number of bytes to examine. It exceeds the maximum line size (100 kB), so that an overlong first line does not hide
 * the layout.
 */
export const sniffedBytes = 262_144;

export type Shapes = readonly (readonly ColumnName[])[];

type Sniffed =
  | { readonly layout: RowLayout; readonly fault: null }
  | { readonly layout: null; readonly fault: FileFault };

/** The first line that is not blank. */
type FirstLine = { readonly line: string; readonly row: number };

const utf16Marks = ['fffe', 'feff'];

/**
 * Detects the layout from the first decompressed bytes of a file. The first line that fits a shape determines the
 * layout, and every other line must match it. If the head contains no lines, the default layout is used, and ClickHouse
 * then reports the file as empty.
 */
export function sniffLayout(head: Uint8Array, shapes: Shapes): Sniffed {
  if (utf16Marks.some((mark) => hexOf(head.subarray(0, 2)) === mark)) {
    return failed({ code: 'wrong_encoding', detail: 'The file starts with a UTF-16 byte-order mark.' });
  }
  let row = 0;
  let first: FirstLine | null = null;
  for (const line of linesOf(head.subarray(0, sniffedBytes))) {
    row += 1;
    if (first === null && line !== '') first = { line, row };
    if (first === null) continue;
    const shape = shapeOf(line, shapes);
    if (shape) return known({ ...shape, headerRow: isHeader(first.line, shape, head) ? first.row : null });
    if (row - first.row + 1 === sniffedLines) break;
  }
  if (first === null) return known({ delimiter: ',', columns: shapes[0] ?? [], headerRow: null });
  return failed({ code: 'wrong_shape', detail: describeMismatch(first, shapes) });
}

function known(layout: RowLayout): Sniffed {
  return { layout, fault: null };
}

function failed(fault: FileFault): Sniffed {
  return { layout: null, fault };
}

const newline = 0x0a;

/**
 * Yields the lines one by one, because the first line is enough for most files. Drops a leading UTF-8 byte-order mark.
 */
function* linesOf(bytes: Uint8Array): Generator<string> {
  for (let start = 0, end = 0; end < bytes.length; start = end + 1) {
    const found = bytes.indexOf(newline, start);
    end = found < 0 ? bytes.length : found;
    const line = new TextDecoder('utf-8', { ignoreBOM: start > 0 }).decode(bytes.subarray(start, end));
    yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}

/**
 * Decision 15: a first line that has as many columns as the data rows is a header if its first field is a common name
 * for the ID column, or if its first field is not an ID and the lines after it start with IDs.
 */
function isHeader(line: string, shape: Shape, head: Uint8Array): boolean {
  const fields = splitLine(line, shape.delimiter);
  const [name = ''] = fields;
  if (fields.length !== shape.columns.length) return false;
  return headerNames.has(name.toLowerCase()) || (isName.test(name) && rowsFollow(shape, head));
}

/**
 * A column name contains a letter that is not a hexadecimal digit. A malformed ID, for example a hash, usually does
 * not. The negative lookaheads exclude values that are common in malformed rows.
 */
const isName = /^(?!.*@)(?![^-]{8}-)(?!(?:null|none|unknown|undefined)$).*[g-z]/i;
const isId = new RegExp(advertisingIdPattern);

/** Number of lines after a possible header that must be rows. */
const rowsAfterHeader = 10;

function rowsFollow({ delimiter, columns }: Shape, head: Uint8Array): boolean {
  let lines = 0;
  for (const line of linesOf(head.subarray(0, sniffedBytes))) {
    if (line === '') continue;
    lines += 1;
    if (lines === 1) continue;
    const fields = splitLine(line, delimiter);
    if (fields.length !== columns.length || !isId.test(fields[0] ?? '')) return false;
    if (lines > rowsAfterHeader) break;
  }
  return lines > 1;
}

function describeMismatch({ line, row }: FirstLine, shapes: Shapes): string {
  const expected = shapes.map(({ length }) => length).join(' or ');
  const [delimiter = ','] = delimitersIn(line);
  const count = splitLine(line, delimiter).length;
  if (count === 0) return `The quotes in line ${row} are not balanced; ${expected} columns are expected.`;
  if (count === 1) return `Line ${row} has 1 column; ${expected} are expected, separated by commas or tabs.`;
  return `Line ${row} has ${count} ${delimiter === ',' ? 'comma' : 'tab'}-separated columns; ${expected} are expected.`;
}

/** Returns the candidate delimiters in the order in which they occur in the line. */
function delimitersIn(line: string): readonly Delimiter[] {
  if (!line.includes('\t')) return [','];
  return line.indexOf('\t') < line.indexOf(',') || !line.includes(',') ? ['\t', ','] : [',', '\t'];
}

type Shape = { readonly delimiter: Delimiter; readonly columns: readonly ColumnName[] };

function shapeOf(line: string, shapes: Shapes): Shape | null {
  for (const delimiter of delimitersIn(line)) {
    const count = splitLine(line, delimiter).length;
    const columns = shapes.find(({ length }) => length === count);
    if (columns) return { delimiter, columns };
  }
  return null;
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
