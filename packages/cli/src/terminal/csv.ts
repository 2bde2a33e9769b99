/** RFC 4180, as the api writes it. Null is an empty field. */
export function csvLine<Name extends string>(
  columns: readonly Name[],
  row: Readonly<Record<Name, string | number | null>>,
): string {
  return columns.map((column) => field(row[column])).join(',');
}

export function csvHeading(columns: readonly string[]): string {
  return columns.join(',');
}

function field(value: string | number | null): string {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
