import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fakeTerminal } from '../../../../test/support/fake-terminal.ts';
import { type Column, table } from './table.ts';
import { textWidth } from './text.ts';

type File = { readonly name: string; readonly rows: number };
const columns: readonly Column<File>[] = [
  { title: 'FILE', of: ({ name }) => name, canShrink: true },
  { title: 'ROWS', align: 'right', of: ({ rows }) => rows, paint: () => 'green' },
];
const files = [
  { name: 'a.csv', rows: 5 },
  { name: 'a-very-long-name-of-a-file-that-does-not-fit.csv', rows: 1234 },
  { name: '東京.csv', rows: 70 },
];

describe('table', () => {
  it('prints plain, complete text if the output is not a terminal', () => {
    expect(table(columns, files, fakeTerminal(false).stream).split('\n')).toEqual([
      'FILE                                              ROWS',
      'a.csv                                                5',
      'a-very-long-name-of-a-file-that-does-not-fit.csv  1234',
      '東京.csv                                            70',
    ]);
  });

  it.each([20, 30, 40])('fits the table into a terminal of %i columns', (width) => {
    const lines = table(columns, files, fakeTerminal(true, width).stream).split('\n').map(stripVTControlCharacters);
    expect(Math.max(...lines.map(textWidth))).toBe(width);
    expect(lines[2]).toMatch(/^a-very.*…\s+1234$/);
  });

  it('adds color on a terminal without changing the text', () => {
    const painted = table(columns, files, fakeTerminal(true, 200).stream);
    expect(painted).toContain('\x1b[32m1234\x1b[39m');
    expect(stripVTControlCharacters(painted)).toBe(table(columns, files, fakeTerminal(false).stream));
  });

  it('escapes control characters in file names', () => {
    const shown = table(columns, [{ name: '\x1b[2J\nx', rows: 1 }], fakeTerminal(false).stream);
    expect(shown).toContain(String.raw`\x1b[2J\x0ax`);
  });

  it('supports more rows than the maximum number of function arguments', () => {
    const many = Array.from({ length: 200_000 }, (_, rows) => ({ name: 'a.csv', rows }));
    expect(table(columns, many, fakeTerminal(false).stream).endsWith('\na.csv  199999')).toBe(true);
  });

  it('shows a dash for null', () => {
    const nothing = [{ title: 'X', of: () => null }];
    expect(table(nothing, [{}], fakeTerminal(false).stream)).toBe('X\n-');
  });
});
