import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from './failure.ts';
import { defaultLimits } from './limits.ts';
import { missingParts, partBytesFor, partsOf, placeOfUpload, requireOwnFolder, requireUploadSize } from './upload.ts';

const mebibyte = 1024 * 1024;
const partner = { prefix: 'acme/' };

describe('the parts of an upload', () => {
  it('cover the file with at most 200 parts, of which only the last is smaller', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5e12 }), (bytes) => {
        const parts = partsOf(bytes);
        expect(parts.length).toBeLessThanOrEqual(200);
        expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(bytes);
        expect(parts.map(({ partNumber }) => partNumber)).toEqual(parts.map((_, index) => index + 1));
        expect(parts.slice(0, -1).every((part) => part.bytes === partBytesFor(bytes))).toBe(true);
        expect(parts.at(-1)?.bytes).toBeGreaterThan(0);
      }),
    );
  });

  it.each([
    [1, 8 * mebibyte, 1],
    [8 * mebibyte + 1, 8 * mebibyte, 2],
    [5_000_000_000, 24 * mebibyte, 199],
  ])('of %i bytes have %i bytes each', (bytes, partBytes, count) => {
    expect([partBytesFor(bytes), partsOf(bytes).length]).toEqual([partBytes, count]);
  });

  it('count as missing if they are not stored or have a different size', () => {
    const bytes = 16 * mebibyte + 5;
    const stored = [
      { partNumber: 1, bytes: 8 * mebibyte, etag: 'a' },
      { partNumber: 3, bytes: 4, etag: 'c' },
    ];
    expect(missingParts(bytes, stored)).toEqual([
      { partNumber: 2, bytes: 8 * mebibyte },
      { partNumber: 3, bytes: 5 },
    ]);
  });
});

describe('the place of an upload', () => {
  it("is under the partner's prefix, in a separate folder for each customer", () => {
    expect(placeOfUpload(partner, { customerId: null }, 'a/b.csv')).toEqual({
      filePath: 'a/b.csv',
      key: 'acme/a/b.csv',
    });
    expect(placeOfUpload(partner, { customerId: 7 }, 'a.csv')).toEqual({
      filePath: 'customers/7/a.csv',
      key: 'acme/customers/7/a.csv',
    });
  });

  it.each(['', '/a', '../a', 'a/../b', 'a\0', 'folder/', 's3://bucket/a', 'x'.repeat(1020)])('is never %j', (path) => {
    expect(() => placeOfUpload(partner, { customerId: null }, path)).toThrow(Failure);
    expect(() => placeOfUpload(partner, { customerId: 7 }, path)).toThrow(Failure);
  });

  it('limits the size depending on the name of the file', () => {
    const { maxGzipFileBytes, maxPlainFileBytes } = defaultLimits;
    requireUploadSize('a.csv.gz', maxGzipFileBytes, defaultLimits);
    requireUploadSize('a.csv', maxPlainFileBytes, defaultLimits);
    expect(() => requireUploadSize('a.csv.gz', maxGzipFileBytes + 1, defaultLimits)).toThrow(Failure);
    expect(() => requireUploadSize('a.csv', maxPlainFileBytes + 1, defaultLimits)).toThrow(Failure);
  });
});

describe('the files that a signed-in customer may load', () => {
  it('accepts the uploads of this customer', () => {
    expect(() => requireOwnFolder(7, 'customers/7/a.csv')).not.toThrow();
  });

  it.each(['a.csv', 'customers/', 'customers/8/a.csv', 'customers/70/a.csv', 'acme/customers/7/a.csv', 'daily/'])(
    'rejects %s',
    (path) => {
      expect(() => requireOwnFolder(7, path)).toThrow('must start with "customers/7/"');
    },
  );
});
