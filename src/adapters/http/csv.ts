/** RFC 4180, with a header line. Null is an empty field. */
export function toCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, string | number | null>>[],
): string {
  const lines = rows.map((row) => columns.map((column) => field(row[column])).join(','));
  return [columns.join(','), ...lines, ''].join('\r\n');
}

function field(value: string | number | null): string {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
