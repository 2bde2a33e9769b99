import { describe, expect, it } from 'vitest';
import { defaultFileLimits, faultOfCompression, faultOfRows, faultOfSize, hasGzipName } from './file-rule.ts';

describe('the outcome of a file', () => {
  it.each([
    { accepted: 1, rejected: 0, share: 0 },
    { accepted: 1, rejected: 99, share: 1 },
    { accepted: 99, rejected: 1, share: 0.01 },
  ])('is good with $accepted good and $rejected bad rows where a share of $share may be bad', ({ share, ...rows }) => {
    expect(faultOfRows(rows, share)).toBeNull();
  });

  it.each([
    { accepted: 99, rejected: 1, share: 0, detail: '1 of 100 rows were rejected; none may be.' },
    { accepted: 98, rejected: 2, share: 0.01, detail: '2 of 100 rows were rejected; 1% may be.' },
  ])('is a fault with more bad rows than may be: $detail', ({ share, detail, ...rows }) => {
    expect(faultOfRows(rows, share)).toEqual({ code: 'bad_rows', detail });
  });

  it.each([0, 1])('is a fault when every row was bad, with a share of %s', (share) => {
    expect(faultOfRows({ accepted: 0, rejected: 3 }, share)).toEqual({
      code: 'no_good_row',
      detail: 'All 3 rows were rejected.',
    });
  });

  it.each([0, 1])('is a fault when there was no row, with a share of %s', (share) => {
    expect(faultOfRows({ accepted: 0, rejected: 0 }, share)).toMatchObject({ code: 'empty_file' });
  });
});

describe('what was announced and what was found', () => {
  it.each([true, false])('may agree on %s', (gzip) => {
    expect(faultOfCompression(gzip, gzip)).toBeNull();
    expect(faultOfCompression(null, gzip)).toBeNull();
  });

  it.each([
    [true, 'The file was announced as gzip, but its first bytes are not gzip.'],
    [false, 'The file was announced as plain text, but its first bytes are gzip.'],
  ])('must not differ (announced as gzip: %s)', (expected, detail) => {
    expect(faultOfCompression(expected, !expected)).toEqual({ code: 'compression_mismatch', detail });
  });

  it('is announced by a name, whatever its letters', () => {
    expect(['a.csv.gz', 'A.CSV.GZ', 'a.csv', 'gz', 'a.gz.csv'].map(hasGzipName)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('the size of a file', () => {
  it.each([
    { size: 5_000_000_000, isGzip: true, code: undefined },
    { size: 5_000_000_001, isGzip: true, code: 'file_too_large' },
    { size: 50_000_000_000, isGzip: false, code: undefined },
    { size: 50_000_000_001, isGzip: false, code: 'file_too_large' },
  ])('of $size bytes, gzipped: $isGzip, is $code', ({ size, isGzip, code }) => {
    expect(faultOfSize(size, isGzip, defaultFileLimits)?.code).toBe(code);
  });
});
