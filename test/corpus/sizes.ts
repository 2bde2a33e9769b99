import { fails, loads, rejects, type CorpusFile } from './corpus-file.ts';
import { gzipBomb } from '../support/gzip-bomb.ts';
import { gzipOf } from './gzip-parts.ts';
import { deviceId, lines, two } from './lines.ts';

const maxLineBytes = 102_400;

/**
 * Returns a valid row of exactly the given length. The row repeats the key "a", and ends with "ab" if the length
 * requires it.
 */
function rowOf(n: number, length: number): string {
  const left = length - two(n, '').length;
  const end = left % 2 === 0 ? 'ab' : 'a';
  return two(n, 'a|'.repeat((left - end.length) / 2) + end);
}

function manyRows(count: number, badRow: number): Buffer {
  const all = Array.from({ length: count }, (_, index) => (index + 1 === badRow ? `x,sport` : two(index + 1)));
  return Buffer.from(`${all.join('\n')}\n`);
}

export const sizes: readonly CorpusFile[] = [
  {
    name: 'a line of 200 kB among valid ones',
    path: 'sizes/long.csv',
    body: () => lines(two(1), rowOf(2, 200_000), two(3)),
    expected: loads(3, 2, rejects('line_too_long', 2)),
  },
  {
    name: 'a line of exactly the limit',
    path: 'sizes/limit.csv',
    body: () => lines(two(1), rowOf(2, maxLineBytes), two(3)),
    expected: loads(3, 3),
  },
  {
    name: 'a line of exactly the limit ending with CRLF',
    path: 'sizes/limit-crlf.csv',
    body: () => lines(two(1), `${rowOf(2, maxLineBytes)}\r`, two(3)),
    expected: loads(3, 3),
  },
  {
    name: 'a line one byte over the limit',
    path: 'sizes/limit-and-one.csv',
    body: () => lines(two(1), rowOf(2, maxLineBytes + 1), two(3)),
    expected: loads(3, 2, rejects('line_too_long', 2)),
  },
  {
    name: 'a first line of exactly the limit',
    path: 'sizes/first-limit.csv',
    body: () => lines(rowOf(1, maxLineBytes), two(2)),
    expected: loads(2, 2),
  },
  {
    name: 'a first line of 20 kB in quotes',
    path: 'sizes/first-quoted.csv',
    body: () => lines(`"${deviceId(1)}","${'a|'.repeat(10_000)}a"`, two(2)),
    expected: loads(2, 2),
  },
  {
    name: 'a first line of 200 kB without any delimiter',
    path: 'sizes/first-long.csv',
    body: () => lines('x'.repeat(200_000), two(2), two(3)),
    expected: loads(3, 2, rejects('line_too_long', 1)),
  },
  {
    name: 'a line of 20 MB among valid ones',
    path: 'sizes/huge.csv',
    body: () => lines(two(1), rowOf(2, 20_000_000), two(3)),
    expected: loads(3, 2, rejects('line_too_long', 2)),
  },
  {
    name: 'a line of 300 MB of delimiters among valid ones',
    path: 'sizes/immense.csv.gz',
    body: () =>
      Buffer.concat([
        gzipOf(Buffer.from(`${two(1)}\n`)),
        gzipBomb(',', 300_000_000),
        gzipOf(Buffer.from(`\n${two(3)}\n`)),
      ]),
    expected: loads(3, 2, rejects('line_too_long', 2)),
  },
  {
    name: '400,000 rows with a bad one at 399,999',
    path: 'sizes/many.csv.gz',
    body: () => gzipOf(manyRows(400_000, 399_999)),
    expected: loads(400_000, 399_999, rejects('invalid_id', 399_999)),
  },
  {
    name: '400,000 rows in gzip truncated near its end',
    path: 'sizes/many-cut.csv.gz',
    body: () => gzipOf(manyRows(400_000, 1)).subarray(0, -1_000),
    expected: fails('corrupt_gzip'),
  },
];
