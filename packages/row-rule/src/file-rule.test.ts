import { describe, expect, it } from 'vitest';
import { defaultFileLimits, faultOfCompression, faultOfRows, faultOfSize, hasGzipName } from './file-rule.ts';

describe('faultOfRows', () => {
  it.each([
    { accepted: 1, rejected: 0, share: 0 },
    { accepted: 1, rejected: 99, share: 1 },
    { accepted: 99, rejected: 1, share: 0.01 },
  ])(
    'accepts a file with $accepted valid and $rejected rejected rows if the allowed share is $share',
    ({ share, ...rows }) => {
      expect(faultOfRows(rows, share)).toBeNull();
    },
  );

  it.each([
    { accepted: 99, rejected: 1, share: 0, detail: '1 of 100 rows was rejected; the limit for your account is 0.' },
    {
      accepted: 98,
      rejected: 2,
      share: 0.01,
      detail: '2 of 100 rows were rejected; the limit for your account is 1%.',
    },
  ])('fails a file with too many rejected rows: $detail', ({ share, detail, ...rows }) => {
    expect(faultOfRows(rows, share)).toEqual({ code: 'bad_rows', detail });
  });

  it.each([0, 1])('fails a file without a valid row if the allowed share is %s', (share) => {
    expect(faultOfRows({ accepted: 0, rejected: 3 }, share)).toEqual({
      code: 'no_good_row',
      detail: 'All 3 rows were rejected.',
    });
  });

  it.each([0, 1])('fails a file without rows if the allowed share is %s', (share) => {
    expect(faultOfRows({ accepted: 0, rejected: 0 }, share)).toMatchObject({ code: 'empty_file' });
  });
});

describe('declared compression', () => {
  it.each([true, false])('accepts declared compression that matches the content (gzip: %s)', (gzip) => {
    expect(faultOfCompression(gzip, gzip)).toBeNull();
    expect(faultOfCompression(null, gzip)).toBeNull();
  });

  it.each([
    [true, 'The file is not gzip, but "compressed" was true, or was not set and its name ends in .gz.'],
    [false, 'The file is gzip, but "compressed" was false, or was not set and its name does not end in .gz.'],
  ])('rejects declared compression that differs from the content (declared as gzip: %s)', (expected, detail) => {
    expect(faultOfCompression(expected, !expected)).toEqual({ code: 'compression_mismatch', detail });
  });

  it('derives the declared compression from the file extension, ignoring case', () => {
    expect(['a.csv.gz', 'A.CSV.GZ', 'a.csv', 'gz', 'a.gz.csv'].map(hasGzipName)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('faultOfSize', () => {
  it.each([
    { size: 5_000_000_000, isGzip: true, code: undefined },
    { size: 5_000_000_001, isGzip: true, code: 'file_too_large' },
    { size: 50_000_000_000, isGzip: false, code: undefined },
    { size: 50_000_000_001, isGzip: false, code: 'file_too_large' },
  ])('returns $code for $size bytes (gzip: $isGzip)', ({ size, isGzip, code }) => {
    expect(faultOfSize(size, isGzip, defaultFileLimits)?.code).toBe(code);
  });
});
