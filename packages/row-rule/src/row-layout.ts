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
