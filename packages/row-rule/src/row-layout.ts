export type Delimiter = ',' | '\t';
export type ColumnName = 'id' | 'id_type' | 'country' | 'operation' | 'keys' | 'event';

/** How to read the lines of one file. */
export type RowLayout = {
  readonly delimiter: Delimiter;
  readonly columns: readonly ColumnName[];
  /** The line number of the header; null if the file has none. */
  readonly headerRow: number | null;
};

type Columns = readonly ColumnName[];

/** Decision 11: all rows of a file have the same columns. With two columns, every row is an add. */
export const twoColumns: Columns = ['id', 'keys'];
export const fiveColumns: Columns = ['id', 'id_type', 'country', 'operation', 'keys'];

/** Decision 14. */
export const memberColumns: Columns = ['id', 'event'];

/** The layouts that each kind of job accepts. */
export const marketplaceShapes: readonly Columns[] = [twoColumns, fiveColumns];
export const audienceShapes: readonly Columns[] = [memberColumns];

/**
 * RFC 4180 within one line: a field is either fully quoted or contains no quote. These patterns are for lines with
 * quotes; a line without quotes is split at the delimiter, which is much cheaper. The tab is written as a regular
 * expression escape, so that the pattern survives SQL quoting.
 */
export function quotedFieldPatterns(delimiter: Delimiter): { readonly line: string; readonly field: string } {
  const sign = delimiter === '\t' ? '\\t' : delimiter;
  const field = `("(?:[^"]|"")*"|[^"${sign}]*)`;
  return { line: `^${field}(?:${sign}${field})*$`, field: `${sign}${field}` };
}

/** The fields of a line; none if its quotes are not balanced. */
export function splitLine(text: string, delimiter: Delimiter): readonly string[] {
  if (!text.includes('"')) return text.split(delimiter);
  const patterns = quotedFieldPatterns(delimiter);
  if (!new RegExp(patterns.line).test(text)) return [];
  const found = (delimiter + text).matchAll(new RegExp(patterns.field, 'g'));
  return Array.from(found, ([, field = '']) =>
    field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field,
  );
}
