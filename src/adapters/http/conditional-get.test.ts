import { describe, expect, it } from 'vitest';
import { isNamed, readIfNoneMatch, readWait } from './conditional-get.ts';

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

describe('Prefer: wait', () => {
  it.each([
    ['wait=10', 10],
    ['wait=1', 1],
    ['wait=60', 60],
    ['wait=61', 60],
    [`wait=${'9'.repeat(400)}`, 60],
    ['WAIT = 10', 10],
    ['wait="10"', 10],
    ['respond-async, wait=10', 10],
    ['wait=10, respond-async', 10],
    ['return=minimal; a="b,wait=3", wait=10; x=y', 10],
    ['wait=5, wait=10', 5],
    [',,wait=5', 5],
  ])('parses the header "Prefer: %s" as %d seconds', (header, seconds) => {
    expect(readWait(header)).toBe(seconds);
  });

  it.each([
    undefined,
    '',
    'wait',
    'wait=',
    'wait=0',
    'wait=-1',
    'wait=1.5',
    'wait=1e1',
    'wait=ten',
    'wait="10',
    'wait=10x',
    'waiter=10',
    'x=wait=10',
    'wait=x, wait=10',
    'a="b, wait=10',
  ])('ignores the Prefer header value %j', (header) => {
    expect(readWait(header)).toBeNull();
  });

  const pieces = [' ', '\t', ',', '"', '\\', '\\"', 'wait=', '"" ', 'a;', 'x'];
  const pairs = pieces.flatMap((first) => pieces.map((second) => [first, second] as const));

  it.each(pairs)('parses 8 KiB of %j, a quote, and 8 KiB of %j in linear time', (first, second) => {
    const half = (piece: string): string => piece.repeat(8_192 / piece.length);
    for (const between of ['', '"', ',', ',"']) {
      const header = `a,${half(first)}${between}${half(second)}`;
      const start = process.threadCpuUsage();
      readWait(header);
      const { user, system } = process.threadCpuUsage(start);
      expect((user + system) / 1000, between).toBeLessThan(250);
    }
  });
});
