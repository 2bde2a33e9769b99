// Browsers decompress gzip with DecompressionStream, which reads only one member. A gzip file can have several members:
// `cat a.gz b.gz` and parallel compressors write such files. A member ends with the size of its content. So, where
// three bytes look like the start of a member and the four bytes before them are the size of the content so far, the
// stream is ended and a new one is started.

const memberStart = [0x1f, 0x8b, 0x08] as const;
/** A member has a header of at least 10 bytes and a trailer of 8 bytes. */
const minMemberBytes = 18;

/** The whole content of a piece is in memory at the same time, and gzip expands by up to a factor of a thousand. */
const pieceBytes = 16_384;

/** How often the size is compared. Bytes that only look like a start occur once in 16 MB, so the delay is short. */
const sizeLooks = 20;

/** Not a `TypeError`, so that an error in the consumer is not mistaken for corrupt data. */
export class CorruptGzip extends Error {}

/** Yields the content of a gzip file. Throws `CorruptGzip` if it cannot be decompressed completely. */
export async function* gunzip(
  chunks: AsyncIterable<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let member = new Member();
  try {
    for await (const chunk of withOverlap(chunks)) {
      let start = 0;
      for (const candidate of chunk.starts) {
        const before = chunk.bytes.subarray(start, candidate.at);
        yield* member.push(before);
        start = candidate.at;
        if (!(await member.canEndWith(candidate.sizeBefore))) {
          yield* member.taken();
          continue;
        }
        yield* member.taken();
        yield* member.end();
        member = new Member();
      }
      yield* member.push(chunk.bytes.subarray(start));
    }
    yield* member.end();
  } finally {
    await member.cancel();
  }
}

type Candidate = {
  /** Position in the chunk. */
  readonly at: number;
  /** The last four bytes before it, as a little-endian number. */
  readonly sizeBefore: number;
};

type Chunk = { readonly bytes: Uint8Array<ArrayBuffer>; readonly starts: readonly Candidate[] };

/** Bytes of the previous chunk that are searched again: the size, and a start of a member that is cut in two. */
const overlapBytes = 6;

/** Holds back the last bytes of each chunk, so that a start of a member is found even if it is cut. */
async function* withOverlap(chunks: AsyncIterable<Uint8Array<ArrayBuffer>>): AsyncGenerator<Chunk, void, undefined> {
  let held = new Uint8Array(0);
  let tail = new Uint8Array(0);
  for await (const chunk of chunks) {
    const bytes = joined(held, chunk);
    const kept = Math.min(bytes.length, memberStart.length - 1);
    const ready = bytes.subarray(0, bytes.length - kept);
    yield { bytes: ready, starts: startsIn(tail, bytes, ready.length) };
    tail = joined(tail, ready).slice(-overlapBytes);
    held = bytes.slice(bytes.length - kept);
  }
  yield { bytes: held, starts: [] };
}

function startsIn(tail: Uint8Array, bytes: Uint8Array, end: number): Candidate[] {
  const found: Candidate[] = [];
  for (let at = bytes.indexOf(memberStart[0]); at >= 0 && at < end; at = bytes.indexOf(memberStart[0], at + 1)) {
    if (bytes[at + 1] !== memberStart[1] || bytes[at + 2] !== memberStart[2]) continue;
    let sizeBefore = 0;
    for (let back = 1; back <= 4; back += 1) {
      const byte = at >= back ? bytes[at - back] : tail[tail.length + at - back];
      sizeBefore = sizeBefore * 256 + (byte ?? 0);
    }
    found.push({ at, sizeBefore });
  }
  return found;
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** One member, which is decompressed as its bytes are pushed. */
class Member {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #reading: Promise<void>;
  #output: Uint8Array[] = [];
  #packedBytes = 0;
  #contentBytes = 0;

  constructor() {
    const stream = new DecompressionStream('gzip');
    this.#writer = stream.writable.getWriter();
    this.#reading = this.#readAll(stream.readable);
    // Every error is thrown by `push` or `end` as well.
    this.#reading.catch(() => {});
    this.#writer.closed.catch(() => {});
  }

  async *push(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array, void, undefined> {
    this.#packedBytes += bytes.length;
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      await this.#writer.write(bytes.subarray(start, start + pieceBytes)).catch(corrupt);
      yield* this.taken();
    }
  }

  /**
   * Whether the content so far has this size. In browsers, an empty write completes only after everything before it was
   * read. In Node.js, the content can arrive a little later.
   */
  async canEndWith(size: number): Promise<boolean> {
    if (this.#packedBytes < minMemberBytes) return false;
    await this.#writer.write(new Uint8Array(0)).catch(corrupt);
    for (let look = 1; look < sizeLooks && !this.#hasSize(size); look += 1) {
      await new Promise((resolve) => setTimeout(resolve));
    }
    return this.#hasSize(size);
  }

  #hasSize(size: number): boolean {
    return this.#contentBytes % 2 ** 32 === size;
  }

  *taken(): Generator<Uint8Array, void, undefined> {
    const output = this.#output;
    this.#output = [];
    yield* output;
  }

  async *end(): AsyncGenerator<Uint8Array, void, undefined> {
    await this.#writer.close().catch(corrupt);
    await this.#reading.catch(corrupt);
    yield* this.taken();
  }

  async cancel(): Promise<void> {
    await this.#writer.abort().catch(() => {});
  }

  async #readAll(readable: ReadableStream<Uint8Array>): Promise<void> {
    const reader = readable.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.#contentBytes += value.length;
      this.#output.push(value);
    }
  }
}

function corrupt(error: unknown): never {
  throw new CorruptGzip('The gzip data is corrupt.', { cause: error });
}
