import { createGunzip } from 'node:zlib';
import { Failure } from '../../domain/failure.ts';

/** Unpacks gzip to its end; null when that would be more than so many bytes. */
export async function unpackWhole(packed: Uint8Array, maxBytes: number): Promise<Uint8Array | null> {
  const gunzip = createGunzip({ chunkSize: 65_536 });
  gunzip.end(packed);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxBytes) return null;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Failure('corrupt_gzip', 'The gzip data ends early or is damaged.', { cause: error });
  }
  // zlib stops at a zero byte behind a member, whatever follows it; the engine, which reads larger files, refuses that.
  if (gunzip.bytesWritten < packed.length) {
    throw new Failure('corrupt_gzip', 'The gzip data is followed by bytes that are none.');
  }
  return Buffer.concat(chunks, size);
}
