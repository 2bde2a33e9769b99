import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { unpackWhole } from './object-store.ts';

const text = 'some text\n'.repeat(20_000);
const packed = gzipSync(text);

describe('unpackWhole', () => {
  it('returns the bytes of all gzip members', async () => {
    const content = await unpackWhole(Buffer.concat([packed, packed]), 10_000_000);
    expect(Buffer.from(content ?? []).toString()).toBe(text + text);
  });

  it('returns null for content that exceeds the limit', async () => {
    expect(await unpackWhole(packed, text.length)).toHaveLength(text.length);
    expect(await unpackWhole(packed, text.length - 1)).toBeNull();
  });

  it.each([
    ['a truncated file', packed.subarray(0, -1)],
    ['trailing garbage', Buffer.concat([packed, Buffer.from('x')])],
    ['a trailing zero byte', Buffer.concat([packed, Buffer.alloc(1)])],
    ['zero bytes between gzip members', Buffer.concat([packed, Buffer.alloc(5), packed])],
  ])('rejects %s', async (_what, bytes) => {
    await expect(unpackWhole(bytes, 10_000_000)).rejects.toMatchObject({ code: 'corrupt_gzip' });
  });
});
