import { describe, expect, it } from 'vitest';
import { toId, wholeNumber } from './arguments.ts';

describe('toId', () => {
  it('accepts a whole number in decimal notation', () => {
    expect([toId('import', '1'), toId('audience', '9007199254740991')]).toEqual([1, Number.MAX_SAFE_INTEGER]);
  });

  it.each(['', '0', '-1', '1e1', '0x1f', '0b1', '01', '+1', '1.0', ' 1', '1_0', '9007199254740993'])(
    'rejects %j',
    (text) => {
      expect(() => toId('audience', text)).toThrow('is not a valid audience ID');
    },
  );
});

describe('wholeNumber', () => {
  it.each([
    ['1', 1],
    ['100', 100],
  ])('accepts %j', (text, number) => {
    expect(wholeNumber(1, 100)(text)).toBe(number);
  });

  it.each(['0', '101', '007', '1e1', '-1', '1.5', ' 1', ''])('rejects %j', (text) => {
    expect(() => wholeNumber(1, 100)(text)).toThrow('Must be a whole number from 1 to 100.');
  });
});
