import { hasNoGoodRow, loads, rejects, type CorpusFile } from './corpus-file.ts';
import { bytes, deviceId, lines, two } from './lines.ts';

const zeroId = '00000000-0000-0000-0000-000000000000';

/** Returns one valid row, followed by rows with the given IDs. */
const withIds = (...ids: string[]): Buffer => lines(two(1), ...ids.map((id) => `${id},sport`));

export const ids: readonly CorpusFile[] = [
  {
    name: 'IDs of zeros',
    path: 'ids/zero.csv',
    body: () => withIds(zeroId, zeroId),
    expected: loads(3, 1, rejects('zero_id', 2, 2)),
  },
  {
    name: 'nothing but IDs of zeros',
    path: 'ids/only-zero.csv',
    body: () => lines(`${zeroId},sport`),
    expected: hasNoGoodRow(rejects('zero_id', 1)),
  },
  {
    name: 'hashed IDs of 32, 40 and 64 digits in both cases',
    path: 'ids/hashed.csv',
    body: () => withIds(...[32, 40, 64].flatMap((length) => ['c'.repeat(length), 'C'.repeat(length)])),
    expected: loads(7, 1, rejects('hashed_id', 2, 6)),
  },
  {
    name: 'hexadecimal digits one shorter or longer than hashes',
    path: 'ids/nearly-hashed.csv',
    body: () => withIds(...[31, 33, 39, 41, 63, 65, 128].map((length) => 'c'.repeat(length))),
    expected: loads(8, 1, rejects('invalid_id', 2, 7)),
  },
  {
    name: 'IDs without dashes, which resemble MD5',
    path: 'ids/no-dashes.csv',
    body: () => withIds(deviceId(2).replaceAll('-', ''), zeroId.replaceAll('-', '')),
    expected: loads(3, 1, rejects('hashed_id', 2, 2)),
  },
  {
    name: 'IDs in braces, in brackets and as a URN',
    path: 'ids/braces.csv',
    body: () => withIds(`{${deviceId(2)}}`, `(${deviceId(3)})`, `urn:uuid:${deviceId(4)}`),
    expected: loads(4, 1, rejects('invalid_id', 2, 3)),
  },
  {
    name: 'IDs with leading, trailing and inner spaces, and spaces around quotes',
    path: 'ids/spaces.csv',
    body: () => withIds(` ${deviceId(2)}`, `${deviceId(3)} `, deviceId(4).replace('-', ' '), `" ${deviceId(5)}"`),
    expected: loads(5, 3, rejects('invalid_id', 4, 2)),
  },
  {
    name: 'an ID in upper, lower and mixed case, which is one device',
    path: 'ids/upper-case.csv',
    body: () => withIds(deviceId(1).toUpperCase(), deviceId(1).replace('a', 'A')),
    expected: loads(3, 1),
  },
  {
    name: 'IDs that are one digit too short or too long',
    path: 'ids/length.csv',
    body: () => withIds(deviceId(2).slice(1), deviceId(3).slice(0, -1), `${deviceId(4)}0`, `0${deviceId(5)}`),
    expected: loads(5, 1, rejects('invalid_id', 2, 4)),
  },
  {
    name: 'misplaced dashes, other dash characters, non-ASCII digits',
    path: 'ids/dashes.csv',
    body: () =>
      withIds(
        '6d92078a8-246-4ba4-ae5b-000000000001',
        deviceId(2).replaceAll('-', '–'),
        deviceId(3).replaceAll('-', '_'),
        deviceId(4).replace('6', '６'),
        deviceId(5).replace('d', 'g'),
      ),
    expected: loads(6, 1, rejects('invalid_id', 2, 5)),
  },
  {
    name: 'an empty ID, unquoted and quoted',
    path: 'ids/empty.csv',
    body: () => withIds('', '""'),
    expected: loads(3, 1, rejects('empty_id', 2, 2)),
  },
  {
    name: 'placeholders that programs write for null',
    path: 'ids/null.csv',
    body: () => withIds('null', 'NULL', 'None', 'undefined', '\\N', 'NaN', '-', '0'),
    expected: loads(9, 1, rejects('invalid_id', 2, 8)),
  },
  {
    name: 'an email address, a telephone number and an IP address',
    path: 'ids/personal.csv',
    body: () => withIds('someone@example.com', '+49 30 1234567', '192.0.2.1', '2001:db8::1'),
    expected: loads(5, 1, rejects('invalid_id', 2, 4)),
  },
  {
    name: 'text that a spreadsheet would evaluate',
    path: 'ids/formula.csv',
    body: () => withIds('=1+1', '@SUM(1)', '+1', '-1', '=HYPERLINK("http://example.com","x")'),
    expected: loads(6, 1, rejects('invalid_id', 2, 4), rejects('wrong_column_count', 6)),
  },
  {
    name: 'invisible characters around the ID',
    path: 'ids/invisible.csv',
    body: () => withIds(`\u200B${deviceId(2)}`, `${deviceId(3)}\u00A0`, `\u202E${deviceId(4)}`, `\uFEFF${deviceId(5)}`),
    expected: loads(5, 1, rejects('invalid_id', 2, 4)),
  },
  {
    name: 'NUL bytes and control characters in the ID',
    path: 'ids/control.csv',
    body: () =>
      Buffer.concat([
        withIds(`${deviceId(2)}\0`, `\0${deviceId(3)}`, `${deviceId(4)}\x7f`, `\x1b[1m${deviceId(5)}`),
        bytes('00 00 00 2c 61 0a'),
      ]),
    expected: loads(6, 1, rejects('invalid_id', 2, 5)),
  },
];
