import { fails, hasNoGoodRow, loads, rejects, type CorpusFile } from './corpus-file.ts';
import { byteOrderMark, bytes, five, goodRows, lines, two } from './lines.ts';
import { gzipOf } from './gzip-parts.ts';

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const text = `${two(1)}\n${two(2)}\n`;

/** Returns one valid row, followed by rows whose key ends with the given bytes. */
const withBytes = (...digits: string[]): Buffer =>
  lines(two(1), ...digits.map((of, index) => Buffer.concat([Buffer.from(two(2 + index)), bytes(of)])));

export const encodings: readonly CorpusFile[] = [
  {
    name: 'invalid UTF-8: stray bytes, truncated and overlong sequences, a surrogate, a code point out of range',
    path: 'encodings/invalid.csv',
    body: () =>
      withBytes(
        '80',
        'ff',
        'c3',
        'e2 82',
        'f0 9f 8f',
        'c0 80',
        'c1 bf',
        'e0 80 80',
        'ed a0 80',
        'f4 90 80 80',
        'f8 88 80 80 80',
      ),
    expected: loads(12, 1, rejects('invalid_utf8', 2, 11)),
  },
  {
    name: 'Latin-1 instead of UTF-8',
    path: 'encodings/latin-1.csv',
    body: () => Buffer.from(`${two(1)}\n${two(2, 'café')}\n${two(3, 'Größe')}\n`, 'latin1'),
    expected: loads(3, 1, rejects('invalid_utf8', 2, 2)),
  },
  {
    name: 'nothing but Latin-1',
    path: 'encodings/only-latin-1.csv',
    body: () => Buffer.from(`${two(1, 'café')}\n${two(2, 'Größe')}\n`, 'latin1'),
    expected: hasNoGoodRow(rejects('invalid_utf8', 1, 2)),
  },
  {
    name: 'a UTF-8 byte-order mark before the first row',
    path: 'encodings/mark.csv',
    body: () => lines(byteOrderMark + two(1), two(2)),
    expected: loads(2, 2),
  },
  {
    name: 'a UTF-8 byte-order mark in gzip, before a header',
    path: 'encodings/mark.csv.gz',
    body: () => gzipOf(lines(`${byteOrderMark}id,keys`, two(1), two(2))),
    expected: loads(2, 2),
  },
  {
    name: 'two byte-order marks',
    path: 'encodings/mark-twice.csv',
    body: () => lines(byteOrderMark + byteOrderMark + two(1), two(2)),
    expected: loads(2, 1, rejects('invalid_id', 1)),
  },
  {
    name: 'a byte-order mark in the middle, as in concatenated files',
    path: 'encodings/mark-within.csv',
    body: () => lines(byteOrderMark + two(1), two(2), byteOrderMark + two(3), two(4)),
    expected: loads(4, 3, rejects('invalid_id', 3)),
  },
  {
    name: 'nothing but a byte-order mark',
    path: 'encodings/only-mark.csv',
    body: () => Buffer.from(byteOrderMark),
    expected: fails('empty_file'),
  },
  {
    name: 'a byte-order mark and a header',
    path: 'encodings/mark-and-header.csv',
    body: () => lines(`${byteOrderMark}id,keys`),
    expected: fails('empty_file'),
  },
  {
    name: 'a byte-order mark and blank lines',
    path: 'encodings/mark-and-blank.csv',
    body: () => Buffer.from(`${byteOrderMark}\r\n\n\r\n`),
    expected: fails('empty_file'),
  },
  {
    name: 'half of a byte-order mark',
    path: 'encodings/half-mark.csv',
    body: () => Buffer.concat([bytes('ef bb'), goodRows(2)]),
    expected: loads(2, 1, rejects('invalid_utf8', 1)),
  },
  {
    name: 'little-endian UTF-16 with a byte-order mark',
    path: 'encodings/utf-16-le.csv',
    body: () => utf16(byteOrderMark + text),
    expected: fails('wrong_encoding'),
  },
  {
    name: 'big-endian UTF-16 with a byte-order mark',
    path: 'encodings/utf-16-be.csv',
    body: () => utf16(byteOrderMark + text).swap16(),
    expected: fails('wrong_encoding'),
  },
  {
    name: 'UTF-16 in gzip',
    path: 'encodings/utf-16.csv.gz',
    body: () => gzipOf(utf16(byteOrderMark + text)),
    expected: fails('wrong_encoding'),
  },
  {
    name: 'nothing but a UTF-16 byte-order mark',
    path: 'encodings/only-utf-16-mark.csv',
    body: () => bytes('ff fe'),
    expected: fails('wrong_encoding'),
  },
  {
    name: 'UTF-32 with a byte-order mark',
    path: 'encodings/utf-32.csv',
    body: () => Buffer.concat(Array.from(byteOrderMark + text, (sign) => Buffer.concat([utf16(sign), bytes('00 00')]))),
    expected: fails('wrong_encoding'),
  },
  {
    name: 'UTF-16 without a byte-order mark',
    path: 'encodings/utf-16-unmarked.csv',
    body: () => utf16(text),
    expected: hasNoGoodRow(rejects('invalid_id', 1, 2), rejects('wrong_column_count', 3)),
    better: {
      result: fails('wrong_encoding'),
      how: 'Treat a NUL in every second byte of the first block as UTF-16, even without a byte-order mark.',
    },
  },
  {
    name: 'a line of NUL bytes, as left by a crash, among valid ones',
    path: 'encodings/nul.csv',
    body: () => lines(five(1), Buffer.alloc(4_096), five(2)),
    expected: loads(3, 2, rejects('wrong_column_count', 2)),
  },
  {
    name: 'NUL bytes after the last row',
    path: 'encodings/nul-tail.csv',
    body: () => Buffer.concat([goodRows(2), Buffer.alloc(65_536)]),
    expected: loads(3, 2, rejects('wrong_column_count', 3)),
  },
  {
    name: 'nothing but NUL bytes',
    path: 'encodings/only-nul.csv',
    body: () => Buffer.alloc(10_000),
    expected: fails('wrong_shape'),
  },
];
