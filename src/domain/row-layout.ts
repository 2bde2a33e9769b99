export type Delimiter = ',' | '\t';
export type ColumnName = 'id' | 'id_type' | 'country' | 'operation' | 'keys';

/** How the lines of one file are to be read. */
export type RowLayout = {
  readonly delimiter: Delimiter;
  readonly columns: readonly ColumnName[];
  /** The line number of the header, which is not a data row; null when there is none. */
  readonly headerRow: number | null;
};

/** Decision 11: every row of a file has the columns of one of these; with two, every row is an add. */
export const twoColumns: readonly ColumnName[] = ['id', 'keys'];
export const fiveColumns: readonly ColumnName[] = ['id', 'id_type', 'country', 'operation', 'keys'];
