import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { unpackWhole } from './object-store.ts';

const text = 'some text\n'.repeat(20_000);
const packed = gzipSync(text);

describe('unpacking a whole file', () => {
  it('gives the bytes of all members', async () => {
    const content = await unpackWhole(Buffer.concat([packed, packed]), 10_000_000);
    expect(Buffer.from(content ?? []).toString()).toBe(text + text);
  });

  it('gives nothing of what is larger than allowed', async () => {
    expect(await unpackWhole(packed, text.length)).toHaveLength(text.length);
    expect(await unpackWhole(packed, text.length - 1)).toBeNull();
  });

  it.each([
    ['is cut', packed.subarray(0, -1)],
    ['has garbage behind it', Buffer.concat([packed, Buffer.from('x')])],
    ['has a zero behind it', Buffer.concat([packed, Buffer.alloc(1)])],
    ['has zeros and then more gzip behind it', Buffer.concat([packed, Buffer.alloc(5), packed])],
  ])('refuses what %s', async (_what, bytes) => {
    await expect(unpackWhole(bytes, 10_000_000)).rejects.toMatchObject({ code: 'corrupt_gzip' });
  });
});
