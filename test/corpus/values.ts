import { hasNoGoodRow, loads, rejects, type CorpusFile } from './corpus-file.ts';
import { corpusAttributes, deviceId, five, lines, two } from './lines.ts';

/** Returns one valid row of five columns, followed by rows with the given values in one column. */
const withValues = (values: readonly string[], column: 'idType' | 'country' | 'operation'): Buffer =>
  lines(five(1), ...values.map((value, index) => five(2 + index, { [column]: value })));

/** Returns one valid row of two columns, followed by rows with the given keys. */
const withKeys = (...keys: string[]): Buffer => lines(two(1), ...keys.map((key, index) => two(2 + index, key)));

const fiveColumns: readonly CorpusFile[] = [
  {
    name: 'unknown ID types',
    path: 'values/id-type.csv',
    body: () => withValues(['', '0', '2', '4', '01', 'idfa', '1.0', '１'], 'idType'),
    expected: loads(9, 1, rejects('invalid_id_type', 2, 8)),
  },
  {
    name: 'unknown countries',
    path: 'values/country.csv',
    body: () => withValues(['XX', 'UK', 'DEU', 'De', 'D', '" DE"', 'Germany', '276', 'ßß'], 'country'),
    expected: loads(10, 1, rejects('invalid_country', 2, 9)),
  },
  {
    name: 'spaces around fields',
    path: 'values/spaces.csv',
    body: () => lines(` ${deviceId(1)} , 1 , DE , 0 , sport | a `, ` "${deviceId(2)}" , "1" , , "0", "sport" `),
    expected: loads(2, 2),
  },
  {
    name: 'lowercase and missing countries',
    path: 'values/country-lower.csv',
    body: () => withValues(['de', 'us', 'gb', '', '""'], 'country'),
    expected: loads(6, 6),
  },
  {
    name: 'unknown operations',
    path: 'values/operation.csv',
    body: () => withValues(['', '2', '-1', '00', 'add', 'delete', 'true', '1.'], 'operation'),
    expected: loads(9, 1, rejects('invalid_operation', 2, 8)),
  },
  {
    name: 'nothing but deletes',
    path: 'values/deletes.csv',
    body: () => lines(...[1, 2, 3].map((n) => five(n, { operation: '1' }))),
    expected: loads(3, 3),
  },
  {
    name: 'rows that are invalid in several columns, of which the first counts',
    path: 'values/several.csv',
    body: () =>
      lines(
        five(1),
        'x,9,XX,9,no-such-key',
        `${deviceId(2)},9,XX,9,no-such-key`,
        `${deviceId(2)},1,XX,9,no-such-key`,
        `${deviceId(2)},1,DE,9,no-such-key`,
        `${deviceId(2)},1,DE,0,no-such-key`,
      ),
    expected: loads(
      6,
      1,
      rejects('invalid_country', 4),
      rejects('invalid_id', 2),
      rejects('invalid_id_type', 3),
      rejects('invalid_operation', 5),
      rejects('unknown_key', 6),
    ),
  },
  {
    name: 'columns in another order',
    path: 'values/order.csv',
    body: () => lines(`1,${deviceId(1)},DE,0,sport`, `1,${deviceId(2)},DE,0,sport`),
    expected: hasNoGoodRow(rejects('invalid_id', 1, 2)),
  },
];

const keys: readonly CorpusFile[] = [
  {
    name: 'an empty key, unquoted and quoted',
    path: 'values/keys-empty.csv',
    body: () => withKeys('', '""'),
    expected: loads(3, 1, rejects('empty_keys', 2, 2)),
  },
  {
    name: 'leading, trailing, doubled and lone pipes around keys',
    path: 'values/keys-bars.csv',
    body: () => withKeys('sport|', '|sport', 'sport||a', '|', '||'),
    expected: loads(6, 1, rejects('empty_keys', 2, 5)),
  },
  {
    name: 'unknown keys, alone and among known ones',
    path: 'values/keys-unknown.csv',
    body: () => withKeys('no-such-key', 'sport|no-such-key', 'no-such-key|sport', 'Sport'),
    expected: loads(5, 1, rejects('unknown_key', 2, 4)),
  },
  {
    name: 'a repeated key in one row',
    path: 'values/keys-twice.csv',
    body: () => withKeys('sport|sport', 'a|ab|a'),
    expected: loads(3, 3),
  },
  {
    name: 'five hundred keys in one row',
    path: 'values/keys-many.csv',
    body: () => withKeys((corpusAttributes['many'] ?? []).join('|'), 'a|many-500|sport', 'many-501'),
    expected: loads(4, 3, rejects('unknown_key', 4)),
  },
  {
    name: 'keys separated by characters other than pipes',
    path: 'values/keys-separator.csv',
    body: () => withKeys('sport;a', 'sport a', '"sport,a"', 'sport¦a', 'sport,a'),
    expected: loads(6, 1, rejects('unknown_key', 2, 4), rejects('wrong_column_count', 6)),
  },
  {
    name: 'emoji as keys: a known one, unknown ones, a known one with a variation selector',
    path: 'values/keys-emoji.csv',
    body: () => withKeys('🏀', '🏀|sport', '🏈', '👩‍👩‍👧', '🏀️'),
    expected: loads(6, 3, rejects('unknown_key', 4, 3)),
  },
  {
    name: 'a key that a spreadsheet would evaluate',
    path: 'values/keys-formula.csv',
    body: () => withKeys('=1+1', '=1+2'),
    expected: loads(3, 2, rejects('unknown_key', 3)),
  },
  {
    name: 'NUL bytes and control characters in keys',
    path: 'values/keys-control.csv',
    body: () => withKeys('sport\0', '\0', 'spo\x01rt', 'sport\x1a', 'sport\x7f', 'sport\x0b', 'sport\x0c', 'sport\x85'),
    expected: loads(9, 1, rejects('unknown_key', 2, 8)),
  },
  {
    name: 'foreign keys in an import by attribute IDs',
    path: 'values/keys-foreign.csv',
    request: { key_type: 0 },
    body: () => lines(two(1), two(2, 'a')),
    expected: hasNoGoodRow(rejects('unknown_key', 1, 2)),
  },
  {
    name: 'attribute IDs that are not numbers or are too large',
    path: 'values/keys-numbers.csv',
    request: { key_type: 0 },
    body: () => lines(...['0', '-1', '1e3', '0x1', '18446744073709551616', '9'.repeat(400)].map((key) => two(1, key))),
    expected: hasNoGoodRow(rejects('unknown_key', 1, 6)),
  },
];

export const values: readonly CorpusFile[] = [...fiveColumns, ...keys];
