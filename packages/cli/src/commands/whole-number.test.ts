import { describe, expect, it } from 'vitest';
import { wholeNumber } from './whole-number.ts';

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
