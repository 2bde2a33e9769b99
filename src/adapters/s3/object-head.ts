import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, gunzip } from 'node:zlib';

const gunzipPart = promisify(gunzip);

/** A line may have 100 kB, but its delimiter and its first field stand in far less. */
const headBytes = 16_384;

/** The same for what gzip makes of it, which may be a thousand times as much. */
const unpackedHeadBytes = 262_144;

export function beginsLikeGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

type LookedAt = { readonly head: Buffer; readonly whole: Readable; readonly bytesRead: () => number };

/** Takes a look at the first bytes; `whole` still gives all of them. */
export async function lookAhead(body: Readable): Promise<LookedAt> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  const taken: Buffer[] = [];
  let size = 0;
  while (size < headBytes) {
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
  return { head: Buffer.concat(taken).subarray(0, headBytes), whole, bytesRead: () => bytesRead };
}

/** Unpacks a beginning. What cannot be unpacked is not judged here: the engine reads the whole and says so. */
export async function unpackHead(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    const all = await gunzipPart(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * 1024 * 1024 });
    return all.subarray(0, unpackedHeadBytes);
  } catch {
    return new Uint8Array();
  }
}
