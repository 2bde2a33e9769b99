import { hasNoGoodRow, fails, loads, rejects, type CorpusFile } from './corpus-file.ts';
import { deviceId, lines, two } from './lines.ts';

const brokenInRowTwo = loads(3, 2, rejects('wrong_column_count', 2));

export const quotes: readonly CorpusFile[] = [
  {
    name: 'a quote that is never closed',
    path: 'quotes/unclosed.csv',
    body: () => lines(two(1), `"${deviceId(2)},sport`, two(3)),
    expected: brokenInRowTwo,
  },
  {
    name: 'a quote that is never closed in the first line',
    path: 'quotes/unclosed-first.csv',
    body: () => lines(`"${deviceId(1)},sport`, two(2), two(3)),
    expected: loads(3, 2, rejects('wrong_column_count', 1)),
  },
  {
    name: 'a quote in the middle of a field',
    path: 'quotes/middle.csv',
    body: () => lines(two(1), two(2, 'spo"rt'), two(3)),
    expected: brokenInRowTwo,
  },
  {
    name: 'text after the closing quote',
    path: 'quotes/after-closing.csv',
    body: () => lines(two(1), `"${deviceId(2)}"x,sport`, two(3)),
    expected: brokenInRowTwo,
  },
  {
    name: 'a space between the comma and the quote',
    path: 'quotes/space-before.csv',
    body: () => lines(two(1), `"${deviceId(2)}", "sport"`, two(3)),
    expected: loads(3, 3),
  },
  {
    name: 'lines of nothing but one quote',
    path: 'quotes/only-one.csv',
    body: () => lines('"', '"', '"'),
    expected: fails('wrong_shape'),
  },
  {
    name: 'lines of nothing but empty quotes',
    path: 'quotes/only-empty.csv',
    body: () => lines('"",""', '"",""'),
    expected: hasNoGoodRow(rejects('empty_id', 1, 2)),
  },
  {
    name: 'lines of one to six quotes among valid ones',
    path: 'quotes/only-quotes.csv',
    body: () => lines(two(1), '"', '""', '"""', '""""', '"""""', '""""""'),
    expected: loads(7, 1, rejects('wrong_column_count', 2, 6)),
  },
  {
    name: 'a doubled quote inside a quoted key',
    path: 'quotes/doubled.csv',
    body: () => lines(two(1, '"quo""te"'), two(2, '"sport|quo""te"')),
    expected: loads(2, 2),
  },
  {
    name: 'a doubled quote inside an unquoted key',
    path: 'quotes/doubled-unquoted.csv',
    body: () => lines(two(1), two(2, 'quo""te'), two(3)),
    expected: brokenInRowTwo,
  },
  {
    name: 'quotes around every field',
    path: 'quotes/every-field.csv',
    body: () => lines(`"id","keys"`, `"${deviceId(1)}","sport"`, `"${deviceId(2)}","sport"`),
    expected: loads(2, 2),
  },
  {
    name: 'quotes around all five tab-separated fields',
    path: 'quotes/every-field-of-five.tsv',
    body: () => lines(`"${deviceId(1)}"\t"1"\t"DE"\t"0"\t"sport"`, `"${deviceId(2)}"\t3\t""\t"1"\t"with,comma"`),
    expected: loads(2, 2),
  },
  {
    name: 'a comma inside a quoted key',
    path: 'quotes/comma.csv',
    body: () => lines(two(1, '"with,comma"'), two(2, '"with,comma|sport"')),
    expected: loads(2, 2),
  },
  {
    name: 'a newline inside quotes, which makes two broken lines',
    path: 'quotes/newline.csv',
    body: () => lines(two(1), `"${deviceId(2)}","sport\nsport"`, two(3)),
    expected: loads(4, 2, rejects('wrong_column_count', 2, 2)),
  },
  {
    name: 'single quotes',
    path: 'quotes/single.csv',
    body: () => lines(two(1), `'${deviceId(2)}','sport'`),
    expected: loads(2, 1, rejects('invalid_id', 2)),
  },
  {
    name: 'typographic quotes',
    path: 'quotes/typographic.csv',
    body: () => lines(two(1), `“${deviceId(2)}”,“sport”`),
    expected: loads(2, 1, rejects('invalid_id', 2)),
  },
];
