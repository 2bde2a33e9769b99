import { describe, expect, it } from 'vitest';
import { isNamed, readIfNoneMatch } from './entity-tags.ts';

describe('If-None-Match', () => {
  it.each([
    ['"a"', ['a']],
    ['W/"a"', ['a']],
    ['"a", W/"b"', ['a', 'b']],
    [' "a" ,\t"b" ', ['a', 'b']],
    [',, "a",,', ['a']],
    ['"a,b", "c"', ['a,b', 'c']],
    ['""', ['']],
    ['"\u{e9}"', ['\u{e9}']],
  ])('parses weak and strong tags in If-None-Match: %s', (header, tags) => {
    expect(readIfNoneMatch(header)).toEqual(new Set(tags));
  });

  it.each([undefined, '', ' , ', 'a', '"a', 'a"', '"a" "b"', 'w/"a"', 'W/ "a"', '*, "a"', '"a", *', '"a b"', '"a";b'])(
    'ignores the invalid If-None-Match value %j',
    (header) => {
      expect(readIfNoneMatch(header)).toBeNull();
    },
  );

  it('matches every tag with If-None-Match: *', () => {
    expect(readIfNoneMatch(' * ')).toBe('any');
    expect(isNamed('a', 'any')).toBe(true);
  });

  it('uses weak comparison for tags', () => {
    expect(isNamed('a', readIfNoneMatch('"b", "a"'))).toBe(true);
    expect(isNamed('a', readIfNoneMatch('W/"b"'))).toBe(false);
    expect(isNamed('a', null)).toBe(false);
  });

  it.each([' ', '\t', ',', '"', 'W/', '"a" '])(
    'parses an If-None-Match value with 16 KiB of %j in linear time',
    (piece) => {
      const start = process.threadCpuUsage();
      readIfNoneMatch(piece.repeat(16_384 / piece.length) + 'x');
      const { user, system } = process.threadCpuUsage(start);
      expect((user + system) / 1000).toBeLessThan(100);
    },
  );
});
