import { expect, it } from 'vitest';
import { csvLine } from './csv.ts';

it('a line of CSV has its fields in the order of the columns, and no formula', () => {
  const row = { row: 2, column: null, text: 'a,b', file: '=1+1' };
  expect(csvLine(['file', 'row', 'column', 'text'], row)).toBe(`'=1+1,2,,"a,b"`);
});
