import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, gunzip } from 'node:zlib';

import { bytesLookedAt } from '../../domain/sniff-layout.ts';

const gunzipPart = promisify(gunzip);

/** Of packed bytes fewer do: gzip may make a thousand times as many of them. */
const packedHeadBytes = 16_384;

export function beginsLikeGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

type LookedAt = { readonly head: Buffer; readonly whole: Readable; readonly bytesRead: () => number };

/** Takes a look at the first bytes; `whole` still gives all of them. */
export async function lookAhead(body: Readable): Promise<LookedAt> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  const taken: Buffer[] = [];
  let size = 0;
  while (size < bytesLookedAt) {
    const next = await chunks.next();
    if (next.done === true) break;
    taken.push(next.value);
    size += next.value.length;
  }
  const rest: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => chunks };
  let bytesRead = 0;
  const all = (async function* () {
    for (const part of [taken, rest]) {
      for await (const chunk of part) {
        bytesRead += chunk.length;
        yield chunk;
      }
    }
  })();
  const whole = Readable.from(all, { objectMode: false });
  // A generator that was never asked cannot clean up: without this an unread object would keep its connection.
  whole.once('close', () => body.destroy());
  return { head: Buffer.concat(taken).subarray(0, bytesLookedAt), whole, bytesRead: () => bytesRead };
}

/** Unpacks a beginning. What cannot be unpacked is not judged here: the engine reads the whole and says so. */
export async function unpackHead(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    const packed = bytes.subarray(0, packedHeadBytes);
    const all = await gunzipPart(packed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * 1024 * 1024 });
    return all.subarray(0, bytesLookedAt);
  } catch {
    return new Uint8Array();
  }
}
