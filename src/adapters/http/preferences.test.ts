import { describe, expect, it } from 'vitest';
import { readWait } from './preferences.ts';

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
  ])('%s is %d', (header, seconds) => {
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
  ])('%j is passed over', (header) => {
    expect(readWait(header)).toBeNull();
  });

  it.each([' ', ',', '"', '\\"', 'wait=', '"" ', 'a;'])('of 16 KiB of %j is read in no time', (piece) => {
    const start = performance.now();
    readWait(piece.repeat(16_384 / piece.length));
    expect(performance.now() - start).toBeLessThan(100);
  });
});
