import { gzipSync } from 'node:zlib';

const headerBytes = 10;
const trailerBytes = 8;

export function gzipOf(body: Buffer): Buffer {
  return gzipSync(body, { level: 6 });
}

/** The ten-byte header of a gzip file. */
export function headerOf(packed: Buffer): Buffer {
  return packed.subarray(0, headerBytes);
}

/** Removes the checksum and the length from the end of a gzip file. */
export function withoutTrailer(packed: Buffer): Buffer {
  return packed.subarray(0, -trailerBytes);
}

/** Flips one bit. Negative positions count from the end. */
export function withFlippedBit(packed: Buffer, position: number): Buffer {
  const copy = Buffer.from(packed);
  const index = position < 0 ? copy.length + position : position;
  copy.writeUInt8((copy[index] ?? 0) ^ 1, index);
  return copy;
}

/** Adds a file name to the header, as the gzip command does. */
export function withFileName(packed: Buffer, name: string): Buffer {
  const header = Buffer.from(headerOf(packed));
  header.writeUInt8(0x08, 3);
  return Buffer.concat([header, Buffer.from(`${name}\0`), packed.subarray(headerBytes)]);
}
