import { describe, expect, it } from 'vitest';
import { bytesOf, countOf, csvLine, durationOf, several, timeOf } from './format.ts';

describe('number formats', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [999.6, '1.00 kB'],
    [12_345, '12.3 kB'],
    [123_456_789, '123 MB'],
    [9_996, '10.0 kB'],
    [5e12, '5.00 TB'],
    [5e15, '5000 TB'],
  ])('formats %d bytes as %s', (bytes, text) => {
    expect(bytesOf(bytes)).toBe(text);
  });

  it.each([
    [0.2, '1 s'],
    [59, '59 s'],
    [61, '1 min 1 s'],
    [7_260, '2 h 1 min'],
  ])('formats %d seconds as %s', (seconds, text) => {
    expect(durationOf(seconds)).toBe(text);
  });

  it('formats counts with a unit', () => {
    expect([countOf('1234567'), several(1, 'row'), several(0, 'row')]).toEqual(['1,234,567', '1 row', '0 rows']);
  });

  it('formats times with a precision of one second and leaves other text unchanged', () => {
    expect(timeOf('2026-11-16T09:36:07.123Z')).toBe('2026-11-16 09:36:07');
    expect(timeOf('tomorrow')).toBe('tomorrow');
  });
});

it('orders CSV fields by column and escapes formulas', () => {
  const row = { row: 2, column: null, text: 'a,b', file: '=1+1' };
  expect(csvLine(['file', 'row', 'column', 'text'], row)).toBe(`'=1+1,2,,"a,b"`);
});
