import type { PartnerId } from '../domain/partner.ts';
import type { RecordMark } from '../ports/record-mark.ts';

/** What the hub has to know of one kind of records. */
export type RecordSource<Of, State> = {
  readonly idOf: (of: Of) => number;
  readonly partnerOf: (of: Of) => PartnerId;
  /** Whose it is and which: two callers with the same key may see the same. */
  readonly keyOf: (of: Of) => string;
  /** Of many at once; those that do not exist are left out. */
  readonly marksOf: (ids: readonly number[]) => Promise<readonly RecordMark[]>;
  readonly read: (of: Of) => Promise<State | null>;
  /** Whether it may change without anybody telling. */
  readonly isMoving: (state: State) => boolean;
};
