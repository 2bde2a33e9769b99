import { fails, hasNoGoodRow, loads, rejects, type CorpusFile } from './corpus-file.ts';
import { five, lines, two } from './lines.ts';

const recognized = ['id,keys', 'ID,KEYS', 'Device_Id,segment', '"maid","keys"', ' gaid ,keys', 'idfa,', 'deviceid,a'];

export const headers: readonly CorpusFile[] = [
  ...recognized.map((header, index) => ({
    name: `the header ${header}`,
    path: `headers/recognized-${index}.csv`,
    body: () => lines(header, two(1), 'x,sport'),
    expected: loads(2, 1, rejects('invalid_id', 3)),
  })),
  {
    name: 'a header of five columns',
    path: 'headers/five.csv',
    body: () => lines('id,id_type,country,operation,keys', five(1), five(2)),
    expected: loads(2, 2),
  },
  {
    name: 'a tab-separated header',
    path: 'headers/tabs.tsv',
    body: () => lines('aaid\tkeys', two(1).replace(',', '\t')),
    expected: loads(1, 1),
  },
  {
    name: 'a header after blank lines',
    path: 'headers/behind-blank.csv',
    body: () => lines('', '', 'id,keys', two(1), 'x,sport'),
    expected: loads(2, 1, rejects('invalid_id', 5)),
  },
  {
    name: 'a header with unknown names',
    path: 'headers/unknown.csv',
    body: () => lines('Advertising Identifier,Segments', two(1), two(2)),
    expected: loads(2, 2),
  },
  {
    name: 'a repeated header',
    path: 'headers/twice.csv',
    body: () => lines('id,keys', 'id,keys', two(1)),
    expected: loads(2, 1, rejects('invalid_id', 2)),
  },
  {
    name: 'a header in the middle, as in concatenated files',
    path: 'headers/middle.csv',
    body: () => lines('id,keys', two(1), 'id,keys', two(2)),
    expected: loads(3, 2, rejects('invalid_id', 3)),
  },
  {
    name: 'only a header',
    path: 'headers/only.csv',
    body: () => lines('id,keys'),
    expected: fails('empty_file'),
  },
  {
    name: 'only a header without a newline',
    path: 'headers/only-unended.csv',
    body: () => Buffer.from('id,id_type,country,operation,keys'),
    expected: fails('empty_file'),
  },
  {
    name: 'a header and blank lines',
    path: 'headers/and-blank.csv',
    body: () => lines('id,keys', '', '\r', ''),
    expected: fails('empty_file'),
  },
  {
    name: 'a header of two columns above rows of five',
    path: 'headers/narrow.csv',
    body: () => lines('id,keys', five(1), five(2)),
    expected: hasNoGoodRow(rejects('wrong_column_count', 2, 2)),
  },
  {
    name: 'a comment above the rows',
    path: 'headers/comment.csv',
    body: () => lines('# exported on 2026-11-05', five(1), five(2)),
    expected: loads(3, 2, rejects('wrong_column_count', 1)),
  },
  {
    name: "a spreadsheet's delimiter line above rows of five columns",
    path: 'headers/sep.csv',
    body: () => lines('sep=,', five(1), five(2)),
    expected: hasNoGoodRow(rejects('wrong_column_count', 2, 2), rejects('invalid_id', 1)),
    better: {
      result: loads(3, 2, rejects('wrong_column_count', 1)),
      how: 'Take the layout from the first line that starts with an advertising ID or a header, if any.',
    },
  },
];
