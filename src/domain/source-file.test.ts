import * as fc from 'fast-check';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Failure } from './failure.ts';
import {
  audiencePath,
  expectGzip,
  isCertainlyPrefix,
  keyInPrefix,
  relativeAudiencePath,
  requireCompressedForPrefix,
} from './source-file.ts';

const prefix = 'acme/';

/** Building blocks of path-traversal attacks, so that the property test often generates such attacks. */
const piece = fc.constantFrom(
  '..',
  '.',
  '/',
  '//',
  '\\',
  'a',
  'acme',
  '%2e%2e',
  '\0',
  '\n',
  's3://',
  '\uD800',
  'é',
  ' ',
);
const anyPath = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
  fc.string({ minLength: 1000, maxLength: 1100 }),
);

/**
 * Returns `rejected` if a path is rejected as intended and `inside` if it is mapped to a safe key. Otherwise, returns a
 * description of the problem.
 */
function outcomeOf(filePath: string): string {
  try {
    const key = keyInPrefix(prefix, filePath);
    if (key !== prefix + filePath || key === prefix) return `became ${key}`;
    if (!posix.normalize(key).startsWith(prefix)) return `left the prefix as ${key}`;
    return Buffer.byteLength(key) <= 1024 ? 'inside' : 'too long';
  } catch (error) {
    return error instanceof Failure && error.code === 'invalid_file_path' ? 'rejected' : `threw ${String(error)}`;
  }
}

describe('the key of a submitted path', () => {
  it('rejects every path that would leave the prefix', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(anyPath, (filePath) => {
        const outcome = outcomeOf(filePath);
        seen.add(outcome);
        expect(['inside', 'rejected']).toContain(outcome);
      }),
      { numRuns: 3000 },
    );
    expect([...seen].toSorted()).toEqual(['inside', 'rejected']);
  });

  it.each([
    '',
    '/',
    '/etc/passwd',
    '//host/share',
    '.',
    './a.csv',
    'a/./b.csv',
    'a/.',
    '..',
    '../other/a.csv',
    'a/../../other/a.csv',
    'a/b/..',
    'a/../b.csv',
    '..//other',
    's3://bucket/a.csv',
    'S3://bucket/a.csv',
    'https://example.com/a.csv',
    'file:///etc/passwd',
    'git+ssh://host/a',
    'a\0.csv',
    'a\n.csv',
    'a\r\nHost: other',
    'a\t.csv',
    '\u001b[2J',
    'a\u007f',
    'lone\uD800surrogate',
    '\uDFFF',
    'x'.repeat(1020),
    'é'.repeat(510),
  ])('rejects the path %j', (filePath) => {
    expect(() => keyInPrefix(prefix, filePath)).toThrow(
      expect.objectContaining({
        code: 'invalid_file_path',
        fields: [expect.objectContaining({ pointer: '/file_path' })],
      }),
    );
  });

  it.each([
    'a.csv',
    'day/2026-01-01/part-0.csv.gz',
    'day/',
    'a',
    '...',
    '..a',
    'a..',
    'a/.../b',
    '.hidden',
    'a//b.csv',
    'with space.csv',
    '*?{}%+[]!~#&=;:@$,',
    '%2e%2e/%2e%2e/other',
    '..\\other',
    'c:\\a.csv',
    'a:b//c',
    'größe/日本語.csv',
    'x'.repeat(1019),
    'acme/a.csv',
  ])('appends the unchanged path %j to the prefix', (filePath) => {
    expect(keyInPrefix(prefix, filePath)).toBe(prefix + filePath);
  });
});

describe('a path', () => {
  it.each([
    ['day/', true],
    ['/', true],
    ['day', false],
    ['day/a.csv', false],
    ['', false],
  ])('decides whether the path "%s" can only be a prefix: %s', (filePath, certain) => {
    expect(isCertainlyPrefix(filePath)).toBe(certain);
  });
});

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

describe('the path of an audience file', () => {
  const insideFolder = 'customers/7/a.csv';

  it('can start with the prefix of the partner', () => {
    expect(audiencePath('acme/', 'acme/a.csv')).toEqual({ relative: 'a.csv', literal: 'acme/a.csv' });
    expect(audiencePath('acme/', insideFolder)).toEqual({ relative: insideFolder, literal: null });
  });

  it.each(['acme/', 'customers/', 'customers/7/'])(
    "of a customer stays in the customer's folder if the partner has the prefix %s",
    (ofPartner) =>
      expect(relativeAudiencePath(ofPartner, insideFolder)).toEqual({ relative: insideFolder, literal: null }),
  );

  it('of a customer must be valid', () =>
    expect(() => relativeAudiencePath('acme/', 'customers/7/../8/a.csv')).toThrow('invalid_file_path'));
});
