import * as fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startsLikeGzip } from './file-rule.ts';
import { unpackHead } from './unpack-head.ts';

describe('startsLikeGzip', () => {
  it.each([
    [[], false],
    [[0x1f], false],
    [[0x1f, 0x8b], true],
    [[0x1f, 0x8b, 0x08, 0x00], true],
    [[0x1f, 0x8c], false],
    [[0x8b, 0x1f], false],
    [Buffer.from('id,keys\n'), false],
  ])('detects whether %j has the start of a gzip file: %s', (bytes, isGzip) => {
    expect(startsLikeGzip(Uint8Array.from(bytes))).toBe(isGzip);
  });
});

describe('unpackHead', () => {
  const text = Buffer.from(Array.from({ length: 3_000 }, (_, n) => `${(n * 7919).toString(36)},sport\n`).join(''));
  const packed = gzipSync(text);

  it('decompresses a complete gzip file', async () => {
    expect(Buffer.from(await unpackHead(packed)).equals(text)).toBe(true);
  });

  it('returns the start of the content for a gzip file that is truncated at any position', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: packed.length }), async (end) => {
        const unpacked = Buffer.from(await unpackHead(packed.subarray(0, end)));
        expect(unpacked.equals(text.subarray(0, unpacked.length))).toBe(true);
      }),
    );
  });

  it('returns some content for a gzip file that is truncated in the middle', async () => {
    const unpacked = await unpackHead(packed.subarray(0, packed.length / 2));
    expect(unpacked.length).toBeGreaterThan(1_000);
  });

  it('returns the start of several gzip members that are truncated at any position', async () => {
    const members = Buffer.concat([gzipSync('id,keys\n'), gzipSync('a,sport\n'), gzipSync('b,news\n')]);
    const content = Buffer.from('id,keys\na,sport\nb,news\n');
    for (let end = gzipSync('id,keys\n').length; end <= members.length; end++) {
      const unpacked = Buffer.from(await unpackHead(members.subarray(0, end)));
      expect(unpacked.equals(content.subarray(0, unpacked.length))).toBe(true);
      expect(unpacked.length).toBeGreaterThanOrEqual('id,keys\n'.length);
    }
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['plain text', Buffer.from('id,keys\n')],
    ['two bytes', Buffer.from([0x1f, 0x8b])],
    ['noise', Buffer.concat([packed.subarray(0, 10), Buffer.alloc(100, 0xff)])],
  ])('returns nothing, without an error, for %s', async (_name, bytes) => {
    expect(await unpackHead(bytes)).toHaveLength(0);
  });
});
