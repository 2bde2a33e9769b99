import { createGunzip } from 'node:zlib';
import { brokenGzip, bytesBehindGzip } from '@inlet/row-rule/file-rule';
import { failureOf } from '../../domain/file-failure.ts';

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
    throw failureOf(brokenGzip, error);
  }
  // zlib stops at a zero byte behind a member, whatever follows it; the engine, which reads larger files, refuses that.
  if (gunzip.bytesWritten < packed.length) throw failureOf(bytesBehindGzip);
  return Buffer.concat(chunks, size);
}
