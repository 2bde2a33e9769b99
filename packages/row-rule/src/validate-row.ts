import {
  type ColumnName,
  type Condition,
  type RejectReason,
  type RowCheck,
  type RowLayout,
  idGroups,
  idPatterns,
  keySeparator,
  splitLine,
  trimSpaces,
  unhyphenatedLength,
} from './row-rule.ts';
import { decodeUtf8 } from './text.ts';

/** The values of a valid row. The value of a column that is not in the layout is 0 or empty. */
type ValidRow = {
  readonly device: string;
  readonly idType: number;
  readonly country: string;
  readonly operation: number;
  readonly attributeIds: readonly number[];
  readonly event: string;
};

export type RowStatus =
  | { readonly outcome: 'skipped' }
  | { readonly outcome: 'rejected'; readonly reason: RejectReason }
  | { readonly outcome: 'accepted'; readonly row: ValidRow };

/** The partner's keys and the attributes that they refer to. Does not include keys of retired attributes. */
export type KeyLookup = Pick<ReadonlyMap<string, number>, 'has' | 'get'> & {
  readonly isRetired?: (key: string) => boolean;
};

export type LineContext = {
  readonly layout: RowLayout;
  readonly rule: readonly RowCheck[];
  readonly attributeIdByKey: KeyLookup;
};

type Line = { readonly bytes: Uint8Array; readonly isUtf8: boolean; readonly fields: readonly string[] };

const byteOrderMark = [0xef, 0xbb, 0xbf];
const carriageReturn = 0x0d;

/** Validates one line (without its newline) as ClickHouse does. `row` is the line number in the file, starting at 1. */
export function validateRow(raw: Uint8Array, row: number, context: LineContext): RowStatus {
  const bytes = withoutMarks(raw, row);
  if (bytes.length === 0 || row === context.layout.headerRow) return { outcome: 'skipped' };
  const line = readLine(bytes, context.layout);
  const failed = context.rule.find(({ when }) => applies(when, line, context));
  if (failed) return { outcome: 'rejected', reason: failed.reason };
  return {
    outcome: 'accepted',
    row: {
      device: hyphenate(column(line, 'id', context).toLowerCase()),
      idType: Number(column(line, 'id_type', context)),
      country: column(line, 'country', context).toUpperCase(),
      operation: Number(column(line, 'operation', context)),
      attributeIds: context.layout.columns.includes('keys') ? attributesOf(keysOf(line, 'keys', context), context) : [],
      event: column(line, 'event', context),
    },
  };
}

function withoutMarks(raw: Uint8Array, row: number): Uint8Array {
  const marked = row === 1 && byteOrderMark.every((byte, index) => raw[index] === byte);
  const start = marked ? byteOrderMark.length : 0;
  const end = raw.at(-1) === carriageReturn ? -1 : undefined;
  return raw.subarray(start, end);
}

function readLine(bytes: Uint8Array, layout: RowLayout): Line {
  const text = decodeUtf8(bytes);
  return { bytes, isUtf8: text !== null, fields: text === null ? [] : splitLine(text, layout.delimiter) };
}

function column(line: Line, name: ColumnName, { layout }: LineContext): string {
  return line.fields[layout.columns.indexOf(name)] ?? '';
}

function keysOf(line: Line, name: ColumnName, context: LineContext): readonly string[] {
  return column(line, name, context).split(keySeparator).map(trimSpaces);
}

/** Removes duplicate attributes. */
function attributesOf(keys: readonly string[], { attributeIdByKey }: LineContext): number[] {
  return [...new Set(keys.map((key) => attributeIdByKey.get(key) ?? 0))];
}

function hyphenate(id: string): string {
  if (id.length !== unhyphenatedLength) return id;
  return idGroups.map(([start, length]) => id.slice(start, start + length)).join('-');
}

const tests = [false, true].map((unhyphenatedIds) => {
  const { zeroId, hashedId, advertisingId } = idPatterns({ unhyphenatedIds });
  return { zero: new RegExp(zeroId), hashed: new RegExp(hashedId), valid: new RegExp(advertisingId) };
});

function testId(test: 'zero' | 'hashed' | 'valid', line: Line, context: LineContext): boolean {
  return tests[context.layout.unhyphenatedIds === true ? 1 : 0]?.[test].test(column(line, 'id', context)) ?? false;
}

function applies(condition: Condition, line: Line, context: LineContext): boolean {
  switch (condition.is) {
    case 'line_longer_than':
      return line.bytes.length > condition.bytes;
    case 'line_not_utf8':
      return !line.isUtf8;
    case 'column_count_not':
      return line.fields.length !== condition.count;
    case 'empty':
      return column(line, condition.column, context) === '';
    case 'zero_id':
      return testId('zero', line, context);
    case 'hashed_id':
      return testId('hashed', line, context);
    case 'invalid_id':
      return !testId('valid', line, context);
    case 'not_one_of':
      return !condition.values.includes(column(line, condition.column, context));
    case 'longer_than':
      // Count Unicode characters, as ClickHouse does. `length` would count some of them twice.
      return Array.from(column(line, condition.column, context)).length > condition.characters;
    case 'empty_key':
      return keysOf(line, condition.column, context).includes('');
    case 'unknown_key':
      return keysOf(line, condition.column, context).some((key) => !isKnownKey(key, context.attributeIdByKey));
    case 'retired_key':
      return keysOf(line, condition.column, context).some((key) => isRetired(key, context));
  }
}

export function isKnownKey(key: string, keys: KeyLookup): boolean {
  return keys.has(key) || (keys.isRetired?.(key) ?? false);
}

function isRetired(key: string, { attributeIdByKey }: LineContext): boolean {
  return attributeIdByKey.isRetired?.(key) ?? false;
}
