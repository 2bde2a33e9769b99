import { Failure } from './failure.ts';

type Rows = { readonly accepted: number; readonly rejected: number };

/**
 * Decisions 16 and 17: a file without a good row fails, and so does one in which more than a share of the rows is bad.
 * Marketplace imports skip bad rows, however many: their share is 1.
 */
export function failureOfRows({ accepted, rejected }: Rows, badRowShare: number): Failure | null {
  const total = accepted + rejected;
  if (total === 0) return new Failure('empty_file', 'The file has no data row.');
  if (accepted === 0) return new Failure('no_good_row', `All ${rejected} rows were rejected.`);
  if (rejected <= badRowShare * total) return null;
  const allowed = badRowShare === 0 ? 'none' : `${badRowShare * 100}%`;
  return new Failure('bad_rows', `${rejected} of ${total} rows were rejected; ${allowed} may be.`);
}
