import { Readable } from 'node:stream';

import { bytesLookedAt } from '@inlet/row-rule/sniff-layout';

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
