import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addToHash, ByteSet, emptyHash } from './byte-set.ts';

const hashOf = (bytes: Uint8Array): number => bytes.reduce(addToHash, emptyHash);

describe('ByteSet', () => {
  it('contains exactly the added strings, even if hashes collide', () => {
    const short = fc.array(fc.constantFrom(0, 1, 255), { maxLength: 4 }).map((bytes) => Uint8Array.from(bytes));
    const hash = fc.constantFrom(hashOf, () => 7);
    fc.assert(
      fc.property(fc.array(short), fc.array(short), hash, (added, asked, hashed) => {
        const set = new ByteSet();
        const model = new Set(added.map(String));
        for (const bytes of added) set.add(hashed(bytes), bytes, 0, bytes.length);
        for (const bytes of [...added, ...asked]) {
          expect(set.has(hashed(bytes), bytes, 0, bytes.length)).toBe(model.has(String(bytes)));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('clears itself when it is full and never reports a false match', () => {
    const set = new ByteSet();
    const entry = (n: number): Uint8Array => Buffer.from(`entry ${n}`);
    for (let n = 0; n < 70_000; n += 1) set.add(hashOf(entry(n)), entry(n), 0, entry(n).length);
    const has = (n: number): boolean => set.has(hashOf(entry(n)), entry(n), 0, entry(n).length);
    expect([has(69_999), has(0), has(70_000)]).toEqual([true, false, false]);
  });

  it('ignores long strings', () => {
    const set = new ByteSet();
    const long = new Uint8Array(257);
    set.add(1, long, 0, 257);
    expect(set.has(1, long, 0, 257)).toBe(false);
  });
});
