import { describe, expect, it } from 'vitest';
import { expectGzip, requireCompressedForPrefix } from './file-failure.ts';

describe('the field "compressed"', () => {
  it('requires "compressed" for a path that can only be a prefix', () => {
    expect(() => requireCompressedForPrefix('day/', null)).toThrow(
      expect.objectContaining({
        code: 'compressed_required',
        fields: [{ pointer: '/compressed', detail: 'compressed is required when file_path is a prefix.' }],
      }),
    );
  });

  it.each([
    ['day/', true],
    ['day/', false],
    ['day', null],
    ['day/a.csv', null],
  ])('accepts the path %s with "compressed" set to %s', (filePath, compressed) => {
    expect(() => requireCompressedForPrefix(filePath, compressed)).not.toThrow();
  });
});

describe('expectGzip', () => {
  it.each([
    { compressed: true, key: 'acme/a.csv', isSingle: true, gzip: true },
    { compressed: true, key: 'acme/a.csv', isSingle: false, gzip: true },
    { compressed: false, key: 'acme/a.csv.gz', isSingle: true, gzip: false },
    { compressed: false, key: 'acme/a.csv.gz', isSingle: false, gzip: false },
    { compressed: null, key: 'acme/a.csv.gz', isSingle: true, gzip: true },
    { compressed: null, key: 'acme/a.csv', isSingle: true, gzip: false },
    { compressed: null, key: 'acme/gz', isSingle: true, gzip: false },
    { compressed: null, key: 'acme/a.gz.csv', isSingle: true, gzip: false },
  ])('returns $gzip for $key (compressed: $compressed, single file: $isSingle)', ({ compressed, gzip, ...file }) => {
    expect(expectGzip(compressed, file)).toBe(gzip);
  });

  it('fails without "compressed" for a path that turns out to be a prefix', () => {
    expect(() => expectGzip(null, { key: 'acme/day/a.csv.gz', isSingle: false })).toThrow(
      expect.objectContaining({ code: 'compressed_required' }),
    );
  });
});
