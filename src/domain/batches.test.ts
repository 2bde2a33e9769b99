import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { intoBatches } from './job.ts';

const mebibyte = 1024 * 1024;
const files = (...sizes: number[]): { size: number }[] => sizes.map((size) => ({ size }));

describe('batches', () => {
  it('groups small files and puts a large file into its own batch', () => {
    const batches = intoBatches(files(10, mebibyte + 1, 20, mebibyte, 3 * mebibyte));
    expect(batches).toEqual([files(10, 20, mebibyte), files(mebibyte + 1), files(3 * mebibyte)]);
  });

  it('limits a batch to 250 files and 64 MiB', () => {
    expect(intoBatches(files(...Array.from({ length: 501 }, () => 1))).map(({ length }) => length)).toEqual([
      250, 250, 1,
    ]);
    expect(intoBatches(files(...Array.from({ length: 68 }, () => mebibyte))).map(({ length }) => length)).toEqual([
      64, 4,
    ]);
  });

  it('puts each file into exactly one batch, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 * mebibyte }), { maxLength: 600 }), (sizes) => {
        const given = sizes.map((size, place) => ({ size, place }));
        const batches = intoBatches(given);
        expect(batches.flat().toSorted((a, b) => a.place - b.place)).toEqual(given);
        for (const batch of batches) {
          expect(batch.map(({ place }) => place)).toEqual(batch.map(({ place }) => place).toSorted((a, b) => a - b));
          expect(batch.length === 1 || batch.every(({ size }) => size <= mebibyte)).toBe(true);
          expect(batch.reduce((sum, { size }) => sum + size, 0) <= 64 * mebibyte || batch.length === 1).toBe(true);
        }
      }),
    );
  });
});
