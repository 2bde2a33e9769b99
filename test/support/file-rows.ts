import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { device } from './device-id.ts';

/**
 * Returns file rows for a range of device numbers (end exclusive), each with an event (audiences) or a key (imports).
 */
export function rows(from: number, to: number, eventOrKey = ''): string {
  return Array.from({ length: to - from }, (_, n) => `${device(from + n)},${eventOrKey}\n`).join('');
}

/**
 * Returns the same rows as gzip. Generates them in chunks, so that a file can be large enough to observe a running
 * load.
 */
export async function packedRows(count: number, eventOrKey = ''): Promise<Buffer> {
  const piece = 20_000;
  function* pieces(): Generator<string> {
    for (let from = 0; from < count; from += piece) yield rows(from, Math.min(from + piece, count), eventOrKey);
  }
  return buffer(Readable.from(pieces()).pipe(createGzip({ level: 1 })));
}
