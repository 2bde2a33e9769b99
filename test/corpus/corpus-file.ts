import type { RejectReason } from '@inlet/row-rule/row-rule';
import type { FailureCode } from '../../src/domain/failure-catalog.ts';

/**
 * An entry in the record's `errors`. `row` is the first row with the code, or null if the code applies to the whole
 * file.
 */
export type CorpusCode = {
  readonly code: FailureCode | RejectReason;
  readonly row: number | null;
  readonly count: number;
};

export type CorpusResult = {
  readonly status: 2 | 3;
  readonly total_rows: number;
  readonly unique_devices: number;
  /** In the order of the record: first the file's failure, then the rejection reasons, most frequent first. */
  readonly codes: readonly CorpusCode[];
};

/** A file that a partner might send by mistake, and its expected result. */
export type CorpusFile = {
  readonly name: string;
  readonly path: string;
  readonly body: () => Buffer;
  readonly request?: { readonly compressed?: boolean; readonly key_type?: 0 | 1 };
  readonly expected: CorpusResult;
  /** A result that would be more helpful to the partner, and how to implement it. */
  readonly better?: { readonly result: CorpusResult; readonly how: string };
};

/** Returns an entry with the first row that has the reason and the number of such rows. */
export function rejects(code: RejectReason, row: number, count = 1): CorpusCode {
  return { code, row, count };
}

export function loads(rows: number, devices: number, ...rejected: CorpusCode[]): CorpusResult {
  return { status: 2, total_rows: rows, unique_devices: devices, codes: inOrder(rejected) };
}

/** The whole file fails before any row is counted. */
export function fails(code: FailureCode): CorpusResult {
  return { status: 3, total_rows: 0, unique_devices: 0, codes: [{ code, row: null, count: 1 }] };
}

/** Every row is rejected, and the file fails. */
export function hasNoGoodRow(...rejected: CorpusCode[]): CorpusResult {
  return {
    status: 3,
    total_rows: rejected.reduce((sum, { count }) => sum + count, 0),
    unique_devices: 0,
    codes: [{ code: 'no_good_row', row: null, count: 1 }, ...inOrder(rejected)],
  };
}

function inOrder(rejected: readonly CorpusCode[]): CorpusCode[] {
  return rejected.toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1));
}
