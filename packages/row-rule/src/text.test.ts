import { describe, expect, it } from 'vitest';
import { csvField } from './text.ts';

describe('csvField', () => {
  it.each([
    [null, ''],
    ['', ''],
    [5, '5'],
    ['a b', 'a b'],
    ['a,b', '"a,b"'],
    ['a "b"', '"a ""b"""'],
    ['a\r\nb', '"a\r\nb"'],
    ["'a", "'a"],
  ])('writes %j as %j', (value, field) => {
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
  ])('escapes a spreadsheet formula by writing %j as %j', (value, field) => {
    expect(csvField(value)).toBe(field);
  });

  it('does not escape a sign in a number or inside text', () => {
    for (const value of ['a=1', ' =1', 'a@b', '1-2']) expect(csvField(value)).toBe(value);
    expect(csvField(-5)).toBe('-5');
  });
});
