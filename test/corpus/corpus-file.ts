import type { RejectReason } from '@inlet/row-rule/reject-reason';
import type { FailureCode } from '../../src/domain/failure-catalogue.ts';

/** An entry of the record's `errors`; the row is the first one with the code, null when it is about the whole file. */
export type CorpusCode = {
  readonly code: FailureCode | RejectReason;
  readonly row: number | null;
  readonly count: number;
};

export type CorpusVerdict = {
  readonly status: 2 | 3;
  readonly total_rows: number;
  readonly unique_devices: number;
  /** In the order of the record: the failure of the file, then refused rows, the most frequent reason first. */
  readonly codes: readonly CorpusCode[];
};

/** A file as a partner might send it by mistake, and what must become of it. */
export type CorpusFile = {
  readonly name: string;
  readonly path: string;
  readonly body: () => Buffer;
  readonly request?: { readonly compressed?: boolean; readonly key_type?: 0 | 1 };
  readonly expected: CorpusVerdict;
  /** Where another verdict would help the partner more: which, and how it could be reached. */
  readonly better?: { readonly verdict: CorpusVerdict; readonly how: string };
};

/** The rows with one reason: the first of them, and how many. */
export function rejects(code: RejectReason, row: number, count = 1): CorpusCode {
  return { code, row, count };
}

export function loads(rows: number, devices: number, ...refused: CorpusCode[]): CorpusVerdict {
  return { status: 2, total_rows: rows, unique_devices: devices, codes: inOrder(refused) };
}

/** The file fails as a whole before any row counts. */
export function fails(code: FailureCode): CorpusVerdict {
  return { status: 3, total_rows: 0, unique_devices: 0, codes: [{ code, row: null, count: 1 }] };
}

/** Every row is refused, and so is the file. */
export function hasNoGoodRow(...refused: CorpusCode[]): CorpusVerdict {
  return {
    status: 3,
    total_rows: refused.reduce((sum, { count }) => sum + count, 0),
    unique_devices: 0,
    codes: [{ code: 'no_good_row', row: null, count: 1 }, ...inOrder(refused)],
  };
}

function inOrder(refused: readonly CorpusCode[]): CorpusCode[] {
  return refused.toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1));
}
