import { type CorpusFile, fails, hasNoGoodRow, loads, rejects } from './corpus-file.ts';
import { lines, two } from './lines.ts';

export const lineEndings: readonly CorpusFile[] = [
  {
    name: 'CRLF line endings',
    path: 'line-endings/crlf.csv',
    body: () => Buffer.from(`id,keys\r\n${two(1)}\r\n${two(2)}\r\n`),
    expected: loads(2, 2),
  },
  {
    name: 'CR line endings of classic Mac OS, which make one line',
    path: 'line-endings/cr.csv',
    body: () => Buffer.from([1, 2, 3].map((n) => `${two(n)}\r`).join('')),
    expected: fails('wrong_shape'),
  },
  {
    name: 'CR line endings whose single line happens to have five columns',
    path: 'line-endings/cr-five.csv',
    body: () => Buffer.from([1, 2, 3, 4].map((n) => `${two(n)}\r`).join('')),
    expected: hasNoGoodRow(rejects('invalid_id_type', 1)),
    better: {
      result: fails('wrong_shape'),
      how: 'Treat a first block with CR but no LF as classic Mac OS line endings.',
    },
  },
  {
    name: 'LF and CRLF mixed, and a CR inside a line',
    path: 'line-endings/mixed.csv',
    body: () => Buffer.from(`${two(1)}\n${two(2)}\r\n${two(3)}\r${two(4)}\n${two(5)}\r\r\n${two(6)}`),
    expected: loads(5, 3, rejects('unknown_key', 4), rejects('wrong_column_count', 3)),
  },
  {
    name: 'blank lines before, between and after the rows',
    path: 'line-endings/blank-between.csv',
    body: () => Buffer.from(`\n\r\n${two(1)}\n\n\n${two(2)}\r\n\r\nx,sport\n\n`),
    expected: loads(3, 2, rejects('invalid_id', 8)),
  },
  {
    name: 'nothing but blank lines',
    path: 'line-endings/only-blank.csv',
    body: () => Buffer.from('\n'.repeat(1_000)),
    expected: fails('empty_file'),
  },
  {
    name: 'nothing but blank lines with CRLF',
    path: 'line-endings/only-blank-crlf.csv',
    body: () => Buffer.from('\r\n\r\n\r\n'),
    expected: fails('empty_file'),
  },
  {
    name: 'thousands of blank lines, then rows with tabs',
    path: 'line-endings/many-blank.tsv',
    body: () =>
      Buffer.concat([Buffer.from('\n'.repeat(20_000)), lines(two(1).replace(',', '\t'), two(2).replace(',', '\t'))]),
    expected: loads(2, 2),
  },
  {
    name: 'no newline at the end',
    path: 'line-endings/no-final.csv',
    body: () => Buffer.from(`${two(1)}\n${two(2)}`),
    expected: loads(2, 2),
  },
  {
    name: 'one row and no newline at all',
    path: 'line-endings/one-row.csv',
    body: () => Buffer.from(two(1)),
    expected: loads(1, 1),
  },
  {
    name: 'a truncated last row',
    path: 'line-endings/cut.csv',
    body: () => Buffer.from(`${two(1)}\n${two(2)}\n${two(3).slice(0, 20)}`),
    expected: loads(3, 2, rejects('wrong_column_count', 3)),
  },
  {
    name: 'an empty file',
    path: 'line-endings/empty.csv',
    body: () => Buffer.alloc(0),
    expected: fails('empty_file'),
  },
  {
    name: 'a single newline',
    path: 'line-endings/newline.csv',
    body: () => Buffer.from('\n'),
    expected: fails('empty_file'),
  },
  {
    name: 'a single space',
    path: 'line-endings/space.csv',
    body: () => Buffer.from(' '),
    expected: fails('wrong_shape'),
  },
  {
    name: 'lines of spaces among valid ones',
    path: 'line-endings/spaces.csv',
    body: () => lines(two(1), ' ', '   ', two(2)),
    expected: loads(4, 2, rejects('wrong_column_count', 2, 2)),
  },
  {
    name: 'Unicode line separators, which end no line',
    path: 'line-endings/unicode.csv',
    body: () => Buffer.from(`${two(1)}\n${two(2)}\u2028${two(3)}\n${two(4)}\u0085\n`),
    expected: loads(3, 1, rejects('unknown_key', 3), rejects('wrong_column_count', 2)),
  },
  {
    name: 'the DOS end-of-file character',
    path: 'line-endings/ctrl-z.csv',
    body: () => Buffer.from(`${two(1)}\r\n${two(2)}\r\n\x1a`),
    expected: loads(3, 2, rejects('wrong_column_count', 3)),
  },
];
