import { csvField } from '@inlet/row-rule/csv-field';

/** RFC 4180, as the api writes it. */
export function csvLine<Name extends string>(
  columns: readonly Name[],
  row: Readonly<Record<Name, string | number | null>>,
): string {
  return columns.map((column) => csvField(row[column])).join(',');
}

export function csvHeading(columns: readonly string[]): string {
  return columns.join(',');
}
