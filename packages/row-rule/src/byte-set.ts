/** Number of slots, which must be a power of two. At most half of them are used. */
const slots = 131_072;
const maxEntries = slots / 2;
const arenaBytes = 4 * 1024 * 1024;
const maxLength = 256;

/**
 * A set of short byte strings. A query passes positions in a buffer, because creating a string for each query would
 * take longer than the rest of the line's validation. The caller computes the hash while it scans the bytes. When the
 * set is full, it is cleared.
 */
export class ByteSet {
  readonly #hashes = new Int32Array(slots);
  readonly #offsets = new Int32Array(slots);
  /** 0 for a free slot, otherwise the length plus one. */
  readonly #lengths = new Uint16Array(slots);
  readonly #arena = new Uint8Array(arenaBytes);
  #used = 0;
  #entries = 0;

  has(hash: number, bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    for (let slot = slotOf(hash); ; slot = (slot + 1) & (slots - 1)) {
      const found = this.#lengths[slot] ?? 0;
      if (found === 0) return false;
      if (found === length + 1 && this.#hashes[slot] === hash && this.#isAt(slot, bytes, start, length)) return true;
    }
  }

  add(hash: number, bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length > maxLength || this.has(hash, bytes, start, end)) return;
    if (this.#entries === maxEntries || this.#used + length > arenaBytes) this.#clear();
    let slot = slotOf(hash);
    while (this.#lengths[slot] !== 0) slot = (slot + 1) & (slots - 1);
    this.#arena.set(bytes.subarray(start, end), this.#used);
    this.#hashes[slot] = hash;
    this.#offsets[slot] = this.#used;
    this.#lengths[slot] = length + 1;
    this.#used += length;
    this.#entries += 1;
  }

  #isAt(slot: number, bytes: Uint8Array, start: number, length: number): boolean {
    const offset = this.#offsets[slot] ?? 0;
    for (let at = 0; at < length; at += 1) {
      if (this.#arena[offset + at] !== bytes[start + at]) return false;
    }
    return true;
  }

  #clear(): void {
    this.#lengths.fill(0);
    this.#used = 0;
    this.#entries = 0;
  }
}

/** The initial value of an FNV-1a hash. Call `addToHash` for each byte. */
export const emptyHash = -2_128_831_035;

export function addToHash(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 16_777_619);
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (slots - 1);
}
