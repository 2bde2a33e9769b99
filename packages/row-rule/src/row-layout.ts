export type Delimiter = ',' | '\t';
export type ColumnName = 'id' | 'id_type' | 'country' | 'operation' | 'keys' | 'event';

/** How the lines of one file are to be read. */
export type RowLayout = {
  readonly delimiter: Delimiter;
  readonly columns: readonly ColumnName[];
  /** The line number of the header, which is not a data row; null when there is none. */
  readonly headerRow: number | null;
};

type Columns = readonly ColumnName[];

/** Decision 11: every row of a file has the columns of one of these; with two, every row is an add. */
export const twoColumns: Columns = ['id', 'keys'];
export const fiveColumns: Columns = ['id', 'id_type', 'country', 'operation', 'keys'];

/** Decision 14. */
export const memberColumns: Columns = ['id', 'event'];

/** What the files of a job may look like. */
export const marketplaceShapes: readonly Columns[] = [twoColumns, fiveColumns];
export const audienceShapes: readonly Columns[] = [memberColumns];

/**
 * RFC 4180 within one line: a field is quoted as a whole or holds no quote. These patterns read a line that has
 * quotes in it; a line without quotes is split at the delimiter, which is far cheaper. The tab is written as a
 * regular expression escape, so that the text survives SQL quoting.
 */
export function quotedFieldPatterns(delimiter: Delimiter): { readonly line: string; readonly field: string } {
  const sign = delimiter === '\t' ? '\\t' : delimiter;
  const field = `("(?:[^"]|"")*"|[^"${sign}]*)`;
  return { line: `^${field}(?:${sign}${field})*$`, field: `${sign}${field}` };
}

/** The fields of a line; none when its quotes are broken. */
export function splitLine(text: string, delimiter: Delimiter): readonly string[] {
  if (!text.includes('"')) return text.split(delimiter);
  const patterns = quotedFieldPatterns(delimiter);
  if (!new RegExp(patterns.line).test(text)) return [];
  const found = (delimiter + text).matchAll(new RegExp(patterns.field, 'g'));
  return Array.from(found, ([, field = '']) =>
    field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field,
  );
}
