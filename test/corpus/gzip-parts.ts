import { gzipSync } from 'node:zlib';

const headerBytes = 10;
const trailerBytes = 8;

export function gzipOf(body: Buffer): Buffer {
  return gzipSync(body, { level: 6 });
}

/** The ten bytes with which a gzip file begins. */
export function headerOf(packed: Buffer): Buffer {
  return packed.subarray(0, headerBytes);
}

/** Without the checksum and the length at the end. */
export function withoutTrailer(packed: Buffer): Buffer {
  return packed.subarray(0, -trailerBytes);
}

/** With one bit of another value. Negative places count from the end. */
export function withFlippedBit(packed: Buffer, place: number): Buffer {
  const copy = Buffer.from(packed);
  const index = place < 0 ? copy.length + place : place;
  copy.writeUInt8((copy[index] ?? 0) ^ 1, index);
  return copy;
}

/** With a file name in the header, as the gzip command writes it. */
export function withFileName(packed: Buffer, name: string): Buffer {
  const header = Buffer.from(headerOf(packed));
  header.writeUInt8(0x08, 3);
  return Buffer.concat([header, Buffer.from(`${name}\0`), packed.subarray(headerBytes)]);
}
