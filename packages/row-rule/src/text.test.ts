import { describe, expect, it } from 'vitest';
import { csvField } from './text.ts';

describe('a field of CSV', () => {
  it.each([
    [null, ''],
    ['', ''],
    [5, '5'],
    ['a b', 'a b'],
    ['a,b', '"a,b"'],
    ['a "b"', '"a ""b"""'],
    ['a\r\nb', '"a\r\nb"'],
    ["'a", "'a"],
  ])('%j is written as %j', (value, field) => {
    expect(csvField(value)).toBe(field);
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(1)', "'@SUM(1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['\n=1', `"'\n=1"`],
    ['\u0000=1', "'\u0000=1"],
    ['=HYPERLINK("http://example.com","x")', `"'=HYPERLINK(""http://example.com"",""x"")"`],
  ])('is no formula in a spreadsheet: %j is written as %j', (value, field) => {
    expect(csvField(value)).toBe(field);
  });

  it('is untouched where the sign stands further behind, or in a number', () => {
    for (const value of ['a=1', ' =1', 'a@b', '1-2']) expect(csvField(value)).toBe(value);
    expect(csvField(-5)).toBe('-5');
  });
});
