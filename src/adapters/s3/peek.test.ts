import * as fc from 'fast-check';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { peek } from './object-store.ts';

const headBytes = 262_144;

async function* inPieces(pieces: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

describe('peek', () => {
  it('returns the head and the complete body regardless of chunk sizes', async () => {
    const piece = fc.oneof(
      fc.constant(new Uint8Array()),
      fc.uint8Array({ maxLength: 3 }),
      fc.uint8Array({ maxLength: 2_000 }),
      fc.integer({ min: headBytes - 2, max: headBytes + 2 }).map((size) => new Uint8Array(size).fill(size)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
        const all = Buffer.concat(pieces);
        const { head, whole } = await peek(Readable.from(inPieces(pieces)));
        expect(head.equals(all.subarray(0, headBytes))).toBe(true);
        expect((await buffer(whole)).equals(all)).toBe(true);
      }),
    );
  });

  it('assembles the head from single-byte chunks', async () => {
    const all = Buffer.from('id,keys\n'.repeat(4_000));
    const { head, whole } = await peek(Readable.from(inPieces(Array.from(all, (byte) => Uint8Array.of(byte)))));
    expect(head.equals(all.subarray(0, headBytes))).toBe(true);
    expect((await buffer(whole)).equals(all)).toBe(true);
  });

  it('reads no further than the head', async () => {
    let pieces = 0;
    const endless = async function* (): AsyncGenerator<Buffer> {
      for (;;) {
        pieces += 1;
        yield Buffer.alloc(1_000);
      }
    };
    await peek(Readable.from(endless(), { highWaterMark: 1 }));
    // The stream can buffer one more chunk.
    expect(pieces).toBeLessThanOrEqual(Math.ceil(headBytes / 1_000) + 2);
  });

  it('passes an error from the source to the reader of the body', async () => {
    const failing = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.alloc(headBytes);
      throw new Error('connection lost');
    };
    const { whole } = await peek(Readable.from(failing()));
    await expect(buffer(whole)).rejects.toThrow('connection lost');
  });

  it('throws an error that occurs while the head is read', async () => {
    const failing = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.alloc(10);
      throw new Error('connection lost');
    };
    await expect(peek(Readable.from(failing()))).rejects.toThrow('connection lost');
  });

  it('destroys the source when the body is destroyed before it is read', async () => {
    const source = Readable.from(inPieces([Buffer.alloc(headBytes), Buffer.alloc(headBytes)]), { objectMode: false });
    const { whole } = await peek(source);
    whole.destroy();
    await once(whole, 'close');
    expect(source.destroyed).toBe(true);
  });

  it('destroys the source when the body is destroyed while it is read', async () => {
    const pieces = Array.from({ length: 100 }, () => Buffer.alloc(headBytes));
    const source = Readable.from(inPieces(pieces), { objectMode: false });
    const closed = new Promise<void>((resolve) => void source.once('close', resolve));
    const { whole } = await peek(source);
    const reading = whole[Symbol.asyncIterator]();
    for (let piece = 0; piece < 3; piece++) await reading.next();
    whole.destroy();
    await closed;
    expect(source.destroyed).toBe(true);
  });
});
