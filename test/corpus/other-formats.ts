import { createHash } from 'node:crypto';
import { bytes, deviceId, goodRows, lines, two } from './lines.ts';
import { fails, hasNoGoodRow, loads, rejects, type CorpusFile } from './corpus-file.ts';

/** Pseudorandom bytes that are the same in every run. */
function noise(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, n) =>
    createHash('sha256').update(String(n)).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
}

export const otherFormats: readonly CorpusFile[] = [
  {
    name: 'JSON lines',
    path: 'formats/lines.json',
    body: () => lines(...[1, 2].map((n) => JSON.stringify({ id: deviceId(n), keys: ['sport'] }))),
    expected: fails('wrong_shape'),
  },
  {
    name: 'a JSON document',
    path: 'formats/document.json',
    body: () => Buffer.from(JSON.stringify([{ id: deviceId(1), keys: ['sport', 'a'] }], null, 2)),
    expected: hasNoGoodRow(rejects('invalid_id', 5), rejects('wrong_column_count', 1, 8)),
  },
  {
    name: 'an HTML page',
    path: 'formats/page.csv',
    body: () =>
      lines('<!doctype html>', '<html lang="en">', '<title>Sign in</title>', '<p>Please sign in.</p>', '</html>'),
    expected: fails('wrong_shape'),
  },
  {
    name: "a storage's error message",
    path: 'formats/denied.csv',
    body: () => lines('<?xml version="1.0" encoding="UTF-8"?>', '<Error><Code>AccessDenied</Code></Error>'),
    expected: fails('wrong_shape'),
  },
  {
    name: 'prose',
    path: 'formats/prose.csv',
    body: () => lines('Dear team,', 'attached is the file that you asked for.', 'Kind regards'),
    expected: hasNoGoodRow(rejects('wrong_column_count', 2, 2), rejects('invalid_id', 1)),
  },
  {
    name: 'SQL',
    path: 'formats/dump.sql',
    body: () =>
      lines(
        `INSERT INTO devices VALUES ('${deviceId(1)}','sport');`,
        `INSERT INTO devices VALUES ('${deviceId(2)}','a');`,
      ),
    expected: hasNoGoodRow(rejects('invalid_id', 1, 2)),
  },
  {
    name: 'the first bytes of a PNG image',
    path: 'formats/picture.csv',
    body: () =>
      Buffer.concat([bytes('89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52 00 00 01 00 00 00 01 00 08 06 00 00 00')]),
    expected: fails('wrong_shape'),
  },
  {
    name: 'the first bytes of a zip file',
    path: 'formats/archive.csv',
    body: () =>
      Buffer.concat([
        bytes('50 4b 03 04 14 00 00 00 08 00 f8 aa 65 5b'),
        Buffer.from('rows.csv'),
        bytes('00 ff 8b 01'),
      ]),
    expected: fails('wrong_shape'),
  },
  {
    name: 'the first bytes of a zip file named .gz',
    path: 'formats/archive.csv.gz',
    body: () => bytes('50 4b 03 04 14 00 00 00 08 00 f8 aa 65 5b'),
    expected: fails('compression_mismatch'),
  },
  {
    name: 'bzip2, zstd and xz named .gz',
    path: 'formats/bzip2.csv.gz',
    body: () => bytes('42 5a 68 39 31 41 59 26 53 59 28 b5 2f fd fd 37 7a 58 5a 00'),
    expected: fails('compression_mismatch'),
  },
  {
    name: 'random bytes',
    path: 'formats/noise.csv',
    body: () => noise(4_096),
    expected: hasNoGoodRow(rejects('invalid_utf8', 1, 19)),
  },
  {
    name: 'random bytes among valid rows',
    path: 'formats/noise-among.csv',
    body: () =>
      Buffer.concat([
        goodRows(2),
        noise(2_000).map((byte) => (byte === 0x0a ? 0x0b : byte)),
        Buffer.from('\n'),
        lines(two(3)),
      ]),
    expected: loads(4, 3, rejects('invalid_utf8', 3)),
  },
  {
    name: 'a tar archive of a valid file',
    path: 'formats/archive.tar',
    body: () => {
      const header = Buffer.alloc(512);
      header.write('rows.csv');
      header.write('ustar', 257);
      return Buffer.concat([header, goodRows(3), Buffer.alloc(1_024)]);
    },
    expected: loads(4, 2, rejects('wrong_column_count', 4), rejects('invalid_id', 1)),
  },
];
