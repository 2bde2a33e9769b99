import { describe, expect, it } from 'vitest';
import { toId, wholeNumber } from './arguments.ts';

describe('an id', () => {
  it('is a whole number as the service writes it', () => {
    expect([toId('import', '1'), toId('audience', '9007199254740991')]).toEqual([1, Number.MAX_SAFE_INTEGER]);
  });

  it.each(['', '0', '-1', '1e1', '0x1f', '0b1', '01', '+1', '1.0', ' 1', '1_0', '9007199254740993'])(
    'is not %j',
    (text) => {
      expect(() => toId('audience', text)).toThrow('is no id of an audience');
    },
  );
});

describe('an option that is a whole number', () => {
  it.each([
    ['1', 1],
    ['100', 100],
  ])('is %j', (text, number) => {
    expect(wholeNumber(1, 100)(text)).toBe(number);
  });

  it.each(['0', '101', '007', '1e1', '-1', '1.5', ' 1', ''])('is not %j', (text) => {
    expect(() => wholeNumber(1, 100)(text)).toThrow('It must be a whole number from 1 to 100.');
  });
});
