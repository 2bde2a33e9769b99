import * as fc from 'fast-check';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { lookAhead } from './object-store.ts';

const headBytes = 262_144;

async function* inPieces(pieces: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

describe('looking ahead', () => {
  it('gives all bytes back and shows the first ones, however they arrive', async () => {
    const piece = fc.oneof(
      fc.constant(new Uint8Array()),
      fc.uint8Array({ maxLength: 3 }),
      fc.uint8Array({ maxLength: 2_000 }),
      fc.integer({ min: headBytes - 2, max: headBytes + 2 }).map((size) => new Uint8Array(size).fill(size)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
        const all = Buffer.concat(pieces);
        const { head, whole } = await lookAhead(Readable.from(inPieces(pieces)));
        expect(head.equals(all.subarray(0, headBytes))).toBe(true);
        expect((await buffer(whole)).equals(all)).toBe(true);
      }),
    );
  });

  it('shows a head of many tiny pieces', async () => {
    const all = Buffer.from('id,keys\n'.repeat(4_000));
    const { head, whole } = await lookAhead(Readable.from(inPieces(Array.from(all, (byte) => Uint8Array.of(byte)))));
    expect(head.equals(all.subarray(0, headBytes))).toBe(true);
    expect((await buffer(whole)).equals(all)).toBe(true);
  });

  it('does not read further than it has to', async () => {
    let pieces = 0;
    const endless = async function* (): AsyncGenerator<Buffer> {
      for (;;) {
        pieces += 1;
        yield Buffer.alloc(1_000);
      }
    };
    await lookAhead(Readable.from(endless(), { highWaterMark: 1 }));
    // One piece may wait in the stream's own buffer.
    expect(pieces).toBeLessThanOrEqual(Math.ceil(headBytes / 1_000) + 2);
  });

  it('gives the error of the source to whoever reads the whole', async () => {
    const failing = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.alloc(headBytes);
      throw new Error('connection lost');
    };
    const { whole } = await lookAhead(Readable.from(failing()));
    await expect(buffer(whole)).rejects.toThrow('connection lost');
  });

  it('gives the error of the source at once when it comes within the head', async () => {
    const failing = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.alloc(10);
      throw new Error('connection lost');
    };
    await expect(lookAhead(Readable.from(failing()))).rejects.toThrow('connection lost');
  });

  it('ends the source when the whole is given up before it was read', async () => {
    const source = Readable.from(inPieces([Buffer.alloc(headBytes), Buffer.alloc(headBytes)]), { objectMode: false });
    const { whole } = await lookAhead(source);
    whole.destroy();
    await once(whole, 'close');
    expect(source.destroyed).toBe(true);
  });

  it('ends the source when the whole is given up half-way', async () => {
    const pieces = Array.from({ length: 100 }, () => Buffer.alloc(headBytes));
    const source = Readable.from(inPieces(pieces), { objectMode: false });
    const closed = new Promise<void>((resolve) => void source.once('close', resolve));
    const { whole } = await lookAhead(source);
    const reading = whole[Symbol.asyncIterator]();
    for (let piece = 0; piece < 3; piece++) await reading.next();
    whole.destroy();
    await closed;
    expect(source.destroyed).toBe(true);
  });
});
