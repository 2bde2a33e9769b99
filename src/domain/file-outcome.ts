import { Failure } from './failure.ts';

/** Decisions 16 and 17 for group A: bad rows are skipped, but a file without a good row fails. */
export function failureOfRows(rows: { readonly accepted: number; readonly rejected: number }): Failure | null {
  if (rows.accepted > 0) return null;
  if (rows.rejected > 0) return new Failure('no_good_row', `All ${rows.rejected} rows were rejected.`);
  return new Failure('empty_file', 'The file has no data row.');
}
