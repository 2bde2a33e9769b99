import { ByteSet, addToHash, emptyHash } from './byte-set.ts';
import type { RejectReason } from './reject-reason.ts';
import { keySeparator, maxEventCharacters } from './row-rule.ts';
import { type LineContext, validateRow } from './validate-row.ts';

export const idBytes = 36;

/** By byte: 0 for the digit zero, 1 for any other hexadecimal digit, 2 for what is none. */
const digits = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return character === '0' ? 0 : /[0-9a-fA-F]/.test(character) ? 1 : 2;
});
const dash = 0x2d;

/** Whether an advertising id stands there, and not the one of zeros. */
export function startsWithId(bytes: Uint8Array, start: number): boolean {
  if (start + idBytes > bytes.length) return false;
  if (bytes[start + 8] !== dash || bytes[start + 13] !== dash) return false;
  if (bytes[start + 18] !== dash || bytes[start + 23] !== dash) return false;
  const seen =
    digitsAt(bytes, start, start + 8) |
    digitsAt(bytes, start + 9, start + 13) |
    digitsAt(bytes, start + 14, start + 18) |
    digitsAt(bytes, start + 19, start + 23) |
    digitsAt(bytes, start + 24, start + 36);
  return seen === 1;
}

function digitsAt(bytes: Uint8Array, from: number, to: number): number {
  let seen = 0;
  for (let at = from; at < to; at += 1) seen |= digits[bytes[at] ?? 0] ?? 2;
  return seen;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;
const separator = keySeparator.charCodeAt(0);

/** A mark before a line and a carriage return behind it are not part of it. */
const marksBytes = 5;

type OnReject = (row: number, reason: RejectReason, raw: Uint8Array) => void;

/**
 * Judges the lines of a file as its bytes come, with the verdicts of `validateRow`, and quickly. A line without quotes is
 * good if its id is, what stands between id and last column is, and each of its keys is: each by itself. So the pieces
 * of lines that `validateRow` took are remembered, and a line that has a good id and is made of such pieces is taken
 * without asking again. A byte-order mark is no beginning of an id.
 */
export class RowValidator {
  /** Lines so far, blank ones and the header among them. */
  row = 0;
  accepted = 0;
  /** Of the line that has not ended yet, however much of it is kept. */
  openLineBytes = 0;

  readonly #context: LineContext;
  readonly #maxLineBytes: number;
  readonly #onReject: OnReject;
  readonly #headerRow: number | null;
  readonly #delimiter: number;
  /** Of a good row. */
  readonly #delimiters: number;
  readonly #hasEvents: boolean;
  /** Keys are judged one by one, an event as a whole. */
  readonly #separator: number;
  readonly #goodPieces = new ByteSet();
  #open: Buffer[] = [];
  #kept = 0;

  constructor(context: LineContext, maxLineBytes: number, onReject: OnReject) {
    const { delimiter, columns, headerRow } = context.layout;
    this.#headerRow = headerRow;
    this.#context = context;
    this.#maxLineBytes = maxLineBytes;
    this.#onReject = onReject;
    this.#delimiter = delimiter.charCodeAt(0);
    this.#delimiters = columns.length - 1;
    this.#hasEvents = columns.at(-1) === 'event';
    this.#separator = this.#hasEvents ? newline : separator;
  }

  push(chunk: Buffer): void {
    let start = 0;
    if (this.openLineBytes > 0) {
      const end = chunk.indexOf(newline);
      this.#keep(chunk.subarray(0, end < 0 ? chunk.length : end));
      if (end < 0) return;
      this.#endLine();
      start = end + 1;
    }
    while (start < chunk.length) {
      const goodEnd = this.row + 1 === this.#headerRow ? -1 : this.#walk(chunk, start, this.#isKnown);
      if (goodEnd >= 0) {
        this.row += 1;
        this.accepted += 1;
        start = goodEnd + 1;
        continue;
      }
      const end = chunk.indexOf(newline, start);
      if (end < 0) {
        this.#keep(chunk.subarray(start));
        return;
      }
      this.#judge(chunk.subarray(start, end + 1));
      start = end + 1;
    }
  }

  /** The last line need not end with a newline. */
  end(): void {
    if (this.openLineBytes > 0) this.#endLine();
  }

  /**
   * Goes through the pieces of the line at `start`: where it ends (its newline), or -1 if it is not a plain one with a
   * good id and as many columns as it should have, or if `take` says no to a piece.
   */
  #walk(chunk: Buffer, start: number, take: Take): number {
    if (!startsWithId(chunk, start) || chunk[start + idBytes] !== this.#delimiter) return -1;
    let piece = start + idBytes;
    let hash = emptyHash;
    let delimiters = 0;
    for (let at = piece; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === this.#delimiter) {
        delimiters += 1;
        // All up to the last delimiter is one piece: with keys alone it is the delimiter itself.
        hash = addToHash(hash, byte);
        if (delimiters !== this.#delimiters) continue;
        if (!take(hash, chunk, piece, at + 1)) return -1;
        hash = emptyHash;
        piece = at + 1;
        continue;
      }
      const isEnd = byte === newline || (byte === carriageReturn && chunk[at + 1] === newline);
      if (isEnd || (byte === this.#separator && delimiters === this.#delimiters)) {
        if (isEnd && (delimiters !== this.#delimiters || at - start > this.#maxLineBytes)) return -1;
        if (!take(hash, chunk, piece, at)) return -1;
        if (isEnd) return byte === newline ? at : at + 1;
        hash = emptyHash;
        piece = at + 1;
        continue;
      }
      if (byte === quote || byte === carriageReturn) return -1;
      hash = addToHash(hash, byte);
    }
    return -1;
  }

  /** Events may be all different, as times are; what is short and printable is good without having been seen. */
  readonly #isKnown: Take = (hash, bytes, start, end) =>
    this.#goodPieces.has(hash, bytes, start, end) || (this.#hasEvents && isPlainEvent(bytes, start, end));
  readonly #remember: Take = (hash, bytes, start, end) => {
    this.#goodPieces.add(hash, bytes, start, end);
    return true;
  };

  /** A line with its newline. */
  #judge(line: Buffer): void {
    this.row += 1;
    const raw = line.subarray(0, -1);
    const verdict = validateRow(raw, this.row, this.#context);
    if (verdict.outcome === 'rejected') this.#onReject(this.row, verdict.reason, raw);
    if (verdict.outcome !== 'accepted') return;
    this.accepted += 1;
    this.#walk(line, 0, this.#remember);
  }

  /** Of a line that is too long only so much is kept that it still is. A copy: the chunk's memory may be used again. */
  #keep(piece: Buffer): void {
    this.openLineBytes += piece.length;
    const wanted = piece.subarray(0, this.#maxLineBytes + marksBytes - this.#kept);
    if (wanted.length > 0) this.#open.push(Buffer.from(wanted));
    this.#kept += wanted.length;
  }

  #endLine(): void {
    this.#judge(Buffer.concat([...this.#open, Buffer.of(newline)]));
    this.#open = [];
    this.#kept = 0;
    this.openLineBytes = 0;
  }
}

type Take = (hash: number, bytes: Uint8Array, start: number, end: number) => boolean;

function isPlainEvent(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > maxEventCharacters) return false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return false;
  }
  return true;
}
