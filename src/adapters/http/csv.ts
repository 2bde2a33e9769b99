import { csvField } from '@inlet/row-rule/csv-field';

/** RFC 4180, with a header line. */
export function toCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, string | number | null>>[],
): string {
  const lines = rows.map((row) => columns.map((column) => csvField(row[column])).join(','));
  return [columns.join(','), ...lines, ''].join('\r\n');
}
