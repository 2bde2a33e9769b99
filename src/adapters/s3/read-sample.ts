import { brokenGzip, trailingBytes } from '@inlet/row-rule/file-rule';
import type { FileFault } from '@inlet/row-rule/file-faults';
import type { Readable } from 'node:stream';
import { type Gunzip, createGunzip } from 'node:zlib';
import type { ReadSample, Sample } from '../../ports/dry-run.ts';

const newline = 0x0a;

/** Stops reading, and decompressing, as soon as a limit is reached. */
export const readSample: ReadSample = async ({ body, isGzip }, { size }, limits) => {
  const gunzip = isGzip ? body.pipe(createGunzip()) : null;
  // A broken connection must end the decompression.
  body.once('error', (error) => gunzip?.destroy(error));
  try {
    const sample = await readLines(gunzip ?? body, limits);
    return { ...sample, fault: gunzip && sample.isComplete ? faultOfEnd(gunzip, size) : null };
  } catch (error) {
    if (!isZlibError(error)) throw error;
    return { content: new Uint8Array(), isComplete: false, fault: brokenGzip };
  } finally {
    gunzip?.destroy();
    body.destroy();
  }
};

async function readLines(
  source: Readable,
  { lines, bytes }: { readonly lines: number; readonly bytes: number },
): Promise<Omit<Sample, 'fault'>> {
  const chunks: Uint8Array[] = [];
  let [size, found] = [0, 0];
  for await (const chunk of source as AsyncIterable<Uint8Array>) {
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
      found += 1;
      if (found < lines) continue;
      chunks.push(chunk.subarray(0, at + 1));
      return { content: Buffer.concat(chunks), isComplete: false };
    }
    chunks.push(chunk);
    size += chunk.length;
    if (size > bytes) {
      const content = Buffer.concat(chunks);
      return { content: content.subarray(0, content.lastIndexOf(newline) + 1), isComplete: false };
    }
  }
  return { content: Buffer.concat(chunks), isComplete: true };
}

/** zlib ignores what follows a zero byte after a gzip member. A load rejects such a file. */
function faultOfEnd(gunzip: Gunzip, size: number): FileFault | null {
  return gunzip.bytesWritten < size ? trailingBytes : null;
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}
