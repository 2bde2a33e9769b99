import { deflateSync } from 'node:zlib';
import { type CorpusFile, fails, loads, rejects } from './corpus-file.ts';
import { gzipOf, headerOf, withFileName, withFlippedBit, withoutTrailer } from './gzip-parts.ts';
import { bytes, goodRows, lines, two } from './lines.ts';

const announcements: readonly CorpusFile[] = [
  {
    name: 'plain text named .gz',
    path: 'gzip/plain.csv.gz',
    body: () => goodRows(2),
    expected: fails('compression_mismatch'),
  },
  {
    name: 'gzip named .csv',
    path: 'gzip/packed.csv',
    body: () => gzipOf(goodRows(2)),
    expected: fails('compression_mismatch'),
  },
  {
    name: 'gzip declared uncompressed',
    path: 'gzip/announced-plain.csv.gz',
    request: { compressed: false },
    body: () => gzipOf(goodRows(2)),
    expected: fails('compression_mismatch'),
  },
  {
    name: 'plain text declared compressed',
    path: 'gzip/announced-packed.csv',
    request: { compressed: true },
    body: () => goodRows(2),
    expected: fails('compression_mismatch'),
  },
  {
    name: 'gzip named .csv and declared compressed',
    path: 'gzip/packed-announced.csv',
    request: { compressed: true },
    body: () => gzipOf(goodRows(2)),
    expected: loads(2, 2),
  },
  {
    name: 'plain text named .gz and declared uncompressed',
    path: 'gzip/plain-announced.csv.gz',
    request: { compressed: false },
    body: () => goodRows(2),
    expected: loads(2, 2),
  },
  {
    name: 'gzip named .GZ',
    path: 'gzip/SHOUTED.CSV.GZ',
    body: () => gzipOf(goodRows(2)),
    expected: loads(2, 2),
  },
  {
    name: 'zlib data named .gz',
    path: 'gzip/zlib.csv.gz',
    body: () => deflateSync(goodRows(2)),
    expected: fails('compression_mismatch'),
  },
  {
    name: 'only the first byte of gzip',
    path: 'gzip/one-byte.csv.gz',
    body: () => bytes('1f'),
    expected: fails('compression_mismatch'),
  },
  {
    name: 'an empty file named .gz',
    path: 'gzip/no-bytes.csv.gz',
    body: () => Buffer.alloc(0),
    expected: fails('empty_file'),
  },
];

const damages: readonly CorpusFile[] = [
  {
    name: 'only the two magic bytes of gzip',
    path: 'gzip/magic.csv.gz',
    body: () => bytes('1f 8b'),
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'only a gzip header',
    path: 'gzip/header.csv.gz',
    body: () => headerOf(gzipOf(goodRows(2))),
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'gzip truncated in the middle',
    path: 'gzip/cut.csv.gz',
    body: () => {
      const packed = gzipOf(goodRows(20_000));
      return packed.subarray(0, packed.length / 2);
    },
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'gzip without its trailer',
    path: 'gzip/no-trailer.csv.gz',
    body: () => withoutTrailer(gzipOf(goodRows(2))),
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'gzip without its last byte',
    path: 'gzip/last-byte.csv.gz',
    body: () => gzipOf(goodRows(2)).subarray(0, -1),
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'gzip with a wrong checksum',
    path: 'gzip/checksum.csv.gz',
    body: () => withFlippedBit(gzipOf(goodRows(2)), -8),
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'gzip with a wrong length',
    path: 'gzip/length.csv.gz',
    body: () => withFlippedBit(gzipOf(goodRows(2)), -4),
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'gzip with one flipped bit in its data',
    path: 'gzip/bit.csv.gz',
    body: () => withFlippedBit(gzipOf(goodRows(20_000)), 30_000),
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'gzip with an unknown method in its header',
    path: 'gzip/method.csv.gz',
    body: () => withFlippedBit(gzipOf(goodRows(2)), 2),
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'gzip followed by garbage',
    path: 'gzip/garbage.csv.gz',
    body: () => Buffer.concat([gzipOf(goodRows(2)), Buffer.from('-- end of file --\n')]),
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'gzip followed by NUL bytes',
    path: 'gzip/padded.csv.gz',
    body: () => Buffer.concat([gzipOf(goodRows(2)), Buffer.alloc(512)]),
    expected: fails('corrupt_gzip'),
  },
  {
    name: 'a valid gzip member and a truncated one',
    path: 'gzip/second-cut.csv.gz',
    body: () => Buffer.concat([gzipOf(goodRows(2)), withoutTrailer(gzipOf(goodRows(2, 3)))]),
    expected: fails('corrupt_gzip'),
  },
];

const members: readonly CorpusFile[] = [
  {
    name: 'two gzip members',
    path: 'gzip/two-members.csv.gz',
    body: () => Buffer.concat([gzipOf(goodRows(2)), gzipOf(goodRows(2, 3))]),
    expected: loads(4, 4),
  },
  {
    name: 'two gzip members, the first ending in the middle of a line',
    path: 'gzip/joined-members.csv.gz',
    body: () => Buffer.concat([gzipOf(Buffer.from(`${two(1)}\n${two(2)}`)), gzipOf(goodRows(2, 3))]),
    expected: loads(3, 2, rejects('wrong_column_count', 2)),
  },
  {
    name: 'an empty gzip member after a valid one',
    path: 'gzip/empty-behind.csv.gz',
    body: () => Buffer.concat([gzipOf(goodRows(2)), gzipOf(Buffer.alloc(0))]),
    expected: loads(2, 2),
  },
  {
    name: 'an empty gzip member before a valid one with five columns',
    path: 'gzip/empty-before.csv.gz',
    body: () => Buffer.concat([gzipOf(Buffer.alloc(0)), gzipOf(lines('id\tkeys', two(1).replace(',', '\t')))]),
    expected: loads(1, 1),
  },
  {
    name: 'gzip of an empty file',
    path: 'gzip/of-empty.csv.gz',
    body: () => gzipOf(Buffer.alloc(0)),
    expected: fails('empty_file'),
  },
  {
    name: 'gzip of blank lines',
    path: 'gzip/of-blank.csv.gz',
    body: () => gzipOf(Buffer.from('\n\r\n\n')),
    expected: fails('empty_file'),
  },
  {
    name: 'gzip of gzip',
    path: 'gzip/twice.csv.gz.gz',
    body: () => gzipOf(gzipOf(goodRows(2_000))),
    expected: fails('wrong_shape'),
    better: {
      result: fails('compression_mismatch'),
      how: 'Treat decompressed bytes that start like gzip as compressed twice.',
    },
  },
  {
    name: 'gzip with a file name in its header',
    path: 'gzip/named.csv.gz',
    body: () => withFileName(gzipOf(goodRows(2)), 'rows.csv'),
    expected: loads(2, 2),
  },
];

export const gzip: readonly CorpusFile[] = [...announcements, ...damages, ...members];
