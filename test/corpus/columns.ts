import { fails, hasNoGoodRow, loads, rejects, type CorpusFile } from './corpus-file.ts';
import { deviceId, five, lines, two } from './lines.ts';

const tabbed = (row: string): string => row.replaceAll(',', '\t');

export const columns: readonly CorpusFile[] = [
  ...[1, 3, 4, 6].map((count) => ({
    name: `${count} column(s) in every row`,
    path: `columns/always-${count}.csv`,
    body: () => lines(...[1, 2, 3].map((n) => [deviceId(n), ...Array<string>(count - 1).fill('sport')].join(','))),
    expected: fails('wrong_shape'),
  })),
  {
    name: 'rows of 1, 3, 4 and 6 columns among rows of two',
    path: 'columns/among-two.csv',
    body: () => lines(two(1), deviceId(2), two(3, 'a,a'), two(4, 'a,a,a'), two(5, 'a,a,a,a,a'), two(6)),
    expected: loads(6, 2, rejects('wrong_column_count', 2, 4)),
  },
  {
    name: 'rows of 1, 4 and 6 columns among rows of five',
    path: 'columns/among-five.csv',
    body: () => lines(five(1), deviceId(2), `${deviceId(3)},1,DE,0`, `${five(4)},`, five(5)),
    expected: loads(5, 2, rejects('wrong_column_count', 2, 3)),
  },
  {
    name: 'two columns first, then five',
    path: 'columns/two-then-five.csv',
    body: () => lines(two(1), two(2), five(3), five(4), five(5)),
    expected: loads(5, 2, rejects('wrong_column_count', 3, 3)),
  },
  {
    name: 'five columns first, then two',
    path: 'columns/five-then-two.csv',
    body: () => lines(five(1), five(2), two(3), two(4)),
    expected: loads(4, 2, rejects('wrong_column_count', 3, 2)),
  },
  {
    name: 'tabs instead of commas, two columns',
    path: 'columns/two.tsv',
    body: () => lines(tabbed(two(1)), tabbed(two(2, 'sport|a'))),
    expected: loads(2, 2),
  },
  {
    name: 'tabs instead of commas, five columns',
    path: 'columns/five.tsv',
    body: () => lines(tabbed(five(1)), tabbed(five(2, { country: '' }))),
    expected: loads(2, 2),
  },
  {
    name: 'a tab-separated file with commas inside its keys',
    path: 'columns/commas.tsv',
    body: () => lines(`${deviceId(1)}\twith,comma`, `${deviceId(2)}\tsport,a`, `${deviceId(3)}\tsport`),
    expected: loads(3, 2, rejects('unknown_key', 2)),
  },
  {
    name: 'a comma-separated file with tabs inside its keys',
    path: 'columns/tabs.csv',
    body: () => lines(two(1), two(2, 'sport\ta'), two(3, 'sport\t')),
    expected: loads(3, 1, rejects('unknown_key', 2, 2)),
  },
  {
    name: 'a tab-separated row in a comma-separated file',
    path: 'columns/one-tabbed.csv',
    body: () => lines(two(1), tabbed(two(2)), two(3)),
    expected: loads(3, 2, rejects('wrong_column_count', 2)),
  },
  {
    name: 'semicolons instead of commas',
    path: 'columns/semicolons.csv',
    body: () => lines(two(1).replace(',', ';'), two(2).replace(',', ';')),
    expected: fails('wrong_shape'),
  },
  {
    name: 'semicolons instead of commas, five columns',
    path: 'columns/semicolons-five.csv',
    body: () => lines(five(1).replaceAll(',', ';'), five(2).replaceAll(',', ';')),
    expected: fails('wrong_shape'),
  },
  {
    name: 'pipes instead of commas',
    path: 'columns/bars.csv',
    body: () => lines(two(1).replace(',', '|'), two(2).replace(',', '|')),
    expected: fails('wrong_shape'),
  },
  {
    name: 'a comma at the end of a row',
    path: 'columns/trailing-comma.csv',
    body: () => lines(two(1), `${two(2)},`),
    expected: loads(2, 1, rejects('wrong_column_count', 2)),
  },
  {
    name: 'a row of ten thousand columns',
    path: 'columns/very-many.csv',
    body: () => lines(two(1), two(2, Array<string>(9_999).fill('sport').join(',')), two(3)),
    expected: loads(3, 2, rejects('wrong_column_count', 2)),
  },
  {
    name: 'only rows of twenty thousand columns',
    path: 'columns/only-very-many.csv',
    body: () => lines(','.repeat(19_999), ','.repeat(19_999)),
    expected: fails('wrong_shape'),
  },
  {
    name: 'rows of only delimiters among valid ones',
    path: 'columns/delimiters.csv',
    body: () => lines(five(1), ',,,,', ',', ',,,,,,'),
    expected: loads(4, 1, rejects('wrong_column_count', 3, 2), rejects('empty_id', 2)),
  },
  {
    name: 'nothing but delimiters',
    path: 'columns/only-delimiters.csv',
    body: () => lines(',', ',', ','),
    expected: hasNoGoodRow(rejects('empty_id', 1, 3)),
  },
  {
    name: 'nothing but tabs',
    path: 'columns/only-tabs.tsv',
    body: () => lines('\t', '\t\t\t\t', '\t'),
    expected: hasNoGoodRow(rejects('empty_id', 1, 2), rejects('wrong_column_count', 2)),
  },
];
