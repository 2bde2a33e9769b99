type Delimiter = ',' | '\t';
export type ColumnName = 'id' | 'keys';

/** How the lines of one file are to be read. */
export type RowLayout = {
  readonly delimiter: Delimiter;
  readonly columns: readonly ColumnName[];
  /** The line number of the header, which is not a data row; null when there is none. */
  readonly headerRow: number | null;
};

export const twoColumns: readonly ColumnName[] = ['id', 'keys'];

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

/** Reads the layout off the first bytes of a file (unpacked): its first line that has anything in it. */
export function sniffLayout(head: Uint8Array): RowLayout {
  const lines = new TextDecoder('utf-8').decode(head).split('\n'); // also strips a byte-order mark
  const index = lines.findIndex((line) => line !== '' && line !== '\r');
  const line = lines[index] ?? '';
  const comma = line.indexOf(',');
  const tab = line.indexOf('\t');
  const delimiter = tab >= 0 && (comma < 0 || tab < comma) ? '\t' : ',';
  const first = line.split(delimiter)[0] ?? '';
  const isHeader = headerNames.has(first.replaceAll('"', '').trim().toLowerCase());
  return { delimiter, columns: twoColumns, headerRow: isHeader ? index + 1 : null };
}
