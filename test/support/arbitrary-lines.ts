import * as fc from 'fast-check';
import type { ColumnName, RowLayout } from '@inlet/row-rule/row-rule';
import type { KeyLookup } from '@inlet/row-rule/validate-row';

// Generates lines as partners might send them. Most are valid, some violate parts of the row rule, and some are
// random bytes.

export const maxLineBytes = 400;

/** The number of a retired attribute. */
const retired = 0;

/** The keys as they are written for a job. */
export const jobKeys: ReadonlyMap<string, number> = new Map([
  ['old', retired],
  ['1', 1],
  ['22', 22],
  ['key with space', 3],
  ['ключ', 4],
  ['quo"te', 5],
]);

export const knownKeys: KeyLookup = {
  has: (key) => (jobKeys.get(key) ?? retired) !== retired,
  get: (key) => jobKeys.get(key),
  isRetired: (key) => jobKeys.get(key) === retired,
};

const hex = fc.constantFrom(...'0123456789abcdefABCDEF'.split(''));
const hexOf = (length: number): fc.Arbitrary<string> =>
  fc.array(hex, { minLength: length, maxLength: length }).map((digits) => digits.join(''));
const advertisingId = fc.tuple(hexOf(8), hexOf(4), hexOf(4), hexOf(4), hexOf(12)).map((parts) => parts.join('-'));
const invalidId = fc.oneof(
  fc.constant('00000000-0000-0000-0000-000000000000'),
  fc.constant(''),
  ...[8, 32, 36, 40, 64].map(hexOf),
  advertisingId.map((id) => ` ${id}`),
  advertisingId.map((id) => id.replaceAll('-', '')),
  advertisingId.map((id) => `{${id}}`),
  advertisingId.map((id) => `${id}\0`),
  // These values are almost valid. Some engines parse them as a device ID.
  fc
    .tuple(advertisingId, fc.nat({ max: 35 }), fc.constantFrom('g', 'z', '-', '_', 'a', '0', 'é'))
    .map(([id, at, sign]) => id.slice(0, at) + sign + id.slice(at + 1)),
  fc.string({ maxLength: 40 }),
);
const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...jobKeys.keys()) },
  fc.constantFrom('', '01', '999', ' 1', '22  ', ' ', 'Ключ'),
  fc.string({ maxLength: 5 }),
);

const values: Readonly<Record<ColumnName, fc.Arbitrary<string>>> = {
  id: fc.oneof({ weight: 4, arbitrary: advertisingId }, invalidId),
  id_type: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('1', '3') },
    fc.constantFrom('', '0', '2', '01', '3 ', ' 1', 'x'),
  ),
  country: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('', 'DE', 'us', 'GB') },
    fc.constantFrom('De', 'UK', 'XX', 'DEU', ' ', ' FR ', 'ı'),
  ),
  operation: fc.oneof({ weight: 8, arbitrary: fc.constantFrom('0', '1') }, fc.constantFrom('', '2', '00', 'add')),
  keys: fc.array(key, { minLength: 1, maxLength: 4 }).map((list) => list.join('|')),
  event: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('', 'click', 'app open', 'öffnen', '🙂') },
    fc.constantFrom('x'.repeat(256), 'x'.repeat(257), 'ö'.repeat(129), '🙂'.repeat(60)),
    fc.constantFrom(' ', ' click', 'app open  ', `${'x'.repeat(256)} `),
    fc.string({ maxLength: 12 }),
  ),
};

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const spaced = (text: string): string => `  ${text} `;
const fieldOf = (column: ColumnName): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 8, arbitrary: values[column] },
    { weight: 3, arbitrary: values[column].map(quoted) },
    values[column].map((text) => spaced(quoted(text))),
    values[column].map(spaced),
    values[column].map((text) => `"${text}`),
  );
const bytes = (text: string): Buffer => Buffer.from(text.replaceAll('\n', ' '));

/** Invalid UTF-8: overlong, a surrogate, beyond the last code point, truncated, and a lone continuation byte. */
const invalidUtf8 = ['c080', 'eda080', 'f4908080', 'e282', '80'].map((digits) => Buffer.from(digits, 'hex'));

export function lineOf({ delimiter, columns }: RowLayout): fc.Arbitrary<Buffer> {
  const row = fc.tuple(...columns.map(fieldOf)).map((fields) => fields.join(delimiter));
  return fc.oneof(
    { weight: 12, arbitrary: row.map(bytes) },
    { weight: 3, arbitrary: row.map((text) => bytes(`${text}\r`)) },
    row.map((text) => bytes(`\uFEFF${text}`)),
    row.map((text) => bytes(`${text}${delimiter}x`)),
    row.map((text) => bytes(text.padEnd(maxLineBytes + 1, '|1'))),
    fc
      .tuple(row, fc.uint8Array({ minLength: 1, maxLength: 6 }))
      .map(([text, junk]) =>
        Buffer.concat([bytes(text), Buffer.from(junk).map((byte) => (byte === 0x0a ? 0xff : byte))]),
      ),
    fc.tuple(row, fc.constantFrom(...invalidUtf8)).map(([text, junk]) => Buffer.concat([bytes(text), junk])),
    fc.constantFrom('', '\r', '\r\r', '"', '""', ',', '\t', '\0', 'id,keys').map(bytes),
    fc.string({ unit: 'binary', maxLength: 60 }).map(bytes),
  );
}
