import { ByteSet, addToHash, emptyHash } from './byte-set.ts';
import { type RejectReason, keySeparator, maxEventCharacters } from './row-rule.ts';
import { type LineContext, validateRow } from './validate-row.ts';

export const idBytes = 36;

/** Classifies each byte: 0 is the digit zero, 1 is any other hexadecimal digit, and 2 is any other byte. */
const digits = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return character === '0' ? 0 : /[0-9a-fA-F]/.test(character) ? 1 : 2;
});
const dash = 0x2d;

/** Whether the bytes at `start` are an advertising ID that is not all zeros. */
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

/**
 * Bytes to keep beyond the line limit: a byte-order mark (3) and a carriage return (1), which do not count toward the
 * limit, and one byte that exceeds it.
 */
const marksBytes = 5;

type OnReject = (row: number, reason: RejectReason, raw: Uint8Array) => void;

/**
 * Validates the lines of a file as its bytes arrive, with the same results as `validateRow` but faster. A line without
 * quotes is valid if its ID, the columns between the ID and the last column, and each key are valid on their own. The
 * validator therefore stores these parts of every line that `validateRow` accepts. A later line is accepted without
 * calling `validateRow` if its ID is valid and all its other parts are stored.
 */
export class RowValidator {
  /** Number of lines read so far, including blank lines and the header. */
  row = 0;
  accepted = 0;
  /** Length of the unfinished line, including bytes that are not kept. */
  openLineBytes = 0;

  readonly #context: LineContext;
  readonly #maxLineBytes: number;
  readonly #onReject: OnReject;
  readonly #headerRow: number | null;
  readonly #delimiter: number;
  /** Number of delimiters in a valid row. */
  readonly #delimiters: number;
  readonly #hasEvents: boolean;
  /** Keys are validated one by one. An event is validated as a whole. */
  readonly #separator: number;
  readonly #knownParts = new ByteSet();
  #open: Uint8Array[] = [];
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

  push(chunk: Uint8Array): void {
    let start = 0;
    if (this.openLineBytes > 0) {
      const end = chunk.indexOf(newline);
      this.#keep(chunk.subarray(0, end < 0 ? chunk.length : end));
      if (end < 0) return;
      this.#endLine();
      start = end + 1;
    }
    while (start < chunk.length) {
      const knownEnd = this.row + 1 === this.#headerRow ? -1 : this.#walk(chunk, start, this.#isKnown);
      if (knownEnd >= 0) {
        this.row += 1;
        this.accepted += 1;
        start = knownEnd + 1;
        continue;
      }
      const end = chunk.indexOf(newline, start);
      if (end < 0) {
        this.#keep(chunk.subarray(start));
        return;
      }
      this.#validate(chunk.subarray(start, end + 1));
      start = end + 1;
    }
  }

  /** Validates the last line, which may lack a newline. Call this method at the end of the file. */
  end(): void {
    if (this.openLineBytes > 0) this.#endLine();
  }

  /**
   * Calls `take` for each part of the line at `start` and returns the position of the newline. Returns -1 if the line
   * has quotes, an invalid ID, or the wrong number of columns, or if `take` rejects a part.
   */
  #walk(chunk: Uint8Array, start: number, take: Take): number {
    if (!startsWithId(chunk, start) || chunk[start + idBytes] !== this.#delimiter) return -1;
    let part = start + idBytes;
    let hash = emptyHash;
    let delimiters = 0;
    for (let at = part; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === this.#delimiter) {
        delimiters += 1;
        // Everything between the ID and the last column is one part. With two columns, this part is only the delimiter.
        hash = addToHash(hash, byte);
        if (delimiters !== this.#delimiters) continue;
        if (!take(hash, chunk, part, at + 1)) return -1;
        hash = emptyHash;
        part = at + 1;
        continue;
      }
      const isEnd = byte === newline || (byte === carriageReturn && chunk[at + 1] === newline);
      if (isEnd || (byte === this.#separator && delimiters === this.#delimiters)) {
        if (isEnd && (delimiters !== this.#delimiters || at - start > this.#maxLineBytes)) return -1;
        if (!take(hash, chunk, part, at)) return -1;
        if (isEnd) return byte === newline ? at : at + 1;
        hash = emptyHash;
        part = at + 1;
        continue;
      }
      if (byte === quote || byte === carriageReturn) return -1;
      hash = addToHash(hash, byte);
    }
    return -1;
  }

  /**
   * A short printable event is accepted without being stored first. Events such as timestamps can differ on every line,
   * so a lookup would rarely find them.
   */
  readonly #isKnown: Take = (hash, bytes, start, end) =>
    this.#knownParts.has(hash, bytes, start, end) || (this.#hasEvents && isPlainEvent(bytes, start, end));
  readonly #remember: Take = (hash, bytes, start, end) => {
    this.#knownParts.add(hash, bytes, start, end);
    return true;
  };

  /** Validates a line that includes its newline. */
  #validate(line: Uint8Array): void {
    this.row += 1;
    const raw = line.subarray(0, -1);
    const status = validateRow(raw, this.row, this.#context);
    if (status.outcome === 'rejected') this.#onReject(this.row, status.reason, raw);
    if (status.outcome !== 'accepted') return;
    this.accepted += 1;
    this.#walk(line, 0, this.#remember);
  }

  /**
   * Keeps only as much of an overlong line as is needed to reject it. Copies the bytes, because the chunk's memory may
   * be reused.
   */
  #keep(piece: Uint8Array): void {
    this.openLineBytes += piece.length;
    const wanted = piece.subarray(0, this.#maxLineBytes + marksBytes - this.#kept);
    if (wanted.length > 0) this.#open.push(new Uint8Array(wanted));
    this.#kept += wanted.length;
  }

  #endLine(): void {
    const line = new Uint8Array(this.#kept + 1);
    let length = 0;
    for (const piece of this.#open) {
      line.set(piece, length);
      length += piece.length;
    }
    line[length] = newline;
    this.#validate(line);
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
