import type { LoadCounts } from './file-rule.ts';
import { displayText } from './text.ts';
import { type RejectReason, columnOfReason, rejectReasons } from './row-rule.ts';
import { keysOfStoredRow, storedRowBytes, unknownKeyMessage } from './unknown-key.ts';
import { type KeyLookup, isKnownKey } from './validate-row.ts';

type ReasonCount = {
  readonly code: RejectReason;
  readonly column: string | null;
  readonly count: number;
  readonly first_row: number;
  readonly message: string;
};

export type BadRow = {
  readonly row: number;
  readonly code: RejectReason;
  readonly column: string | null;
  /** The start of the row. Unprintable bytes are shown as `\xNN`. */
  readonly text: string;
};

export type CountedRows = {
  readonly good: number;
  readonly bad: number;
  /** Sorted by count, most frequent first, as in an import record. */
  readonly reasons: readonly ReasonCount[];
  readonly firstBad: readonly BadRow[];
};

export class RowCounts {
  readonly #byReason = new Map<RejectReason, { count: number; first: number; message: string }>();
  readonly #firstBad: BadRow[] = [];
  readonly #shown: number;
  readonly #keys: KeyLookup;
  #bad = 0;

  constructor(shown: number, keys: KeyLookup) {
    this.#shown = shown;
    this.#keys = keys;
  }

  add(row: number, code: RejectReason, raw: Uint8Array): void {
    this.#bad += 1;
    const found = this.#byReason.get(code);
    if (found) found.count += 1;
    else this.#byReason.set(code, { count: 1, first: row, message: this.#messageOf(code, storedStart(raw)) });
    if (this.#firstBad.length === this.#shown) return;
    this.#firstBad.push({ row, code, column: columnOfReason(code), text: displayText(storedStart(raw)) });
  }

  #messageOf(code: RejectReason, start: Uint8Array): string {
    if (code !== 'unknown_key') return rejectReasons[code];
    return unknownKeyMessage(keysOfStoredRow(start), (key) => isKnownKey(key, this.#keys));
  }

  loadCounts(accepted: number): LoadCounts {
    const rejects = Array.from(this.#byReason, ([reason, { count, first }]) => ({
      reason,
      rows: count,
      firstRow: first,
    }));
    return { accepted, rejects };
  }

  counted(good: number): CountedRows {
    const reasons = [...this.#byReason].map(([code, { count, first, message }]) => ({
      code,
      column: columnOfReason(code),
      count,
      first_row: first,
      message,
    }));
    return {
      good,
      bad: this.#bad,
      reasons: reasons.toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1)),
      firstBad: this.#firstBad,
    };
  }
}

function storedStart(raw: Uint8Array): Uint8Array {
  const line = raw.at(-1) === 0x0d ? raw.subarray(0, -1) : raw;
  return line.subarray(0, storedRowBytes);
}
