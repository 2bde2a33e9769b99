import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type RejectReason,
  type RowLayout,
  fiveColumns,
  memberColumns,
  rejectReasons,
  rowRule,
  twoColumns,
} from './row-rule.ts';
import { type KeyLookup, type LineContext, type RowStatus, validateRow } from './validate-row.ts';

const id = 'c0ffee00-0000-4000-8000-00000000abcd';
const maxLineBytes = 120;
const known = new Map([
  ['sport', 11],
  ['news', 12],
  ['a,b', 13],
  ['say "hi"', 14],
  ['ключ', 15],
  ['a\tb', 16],
]);
const attributeIdByKey: KeyLookup = {
  has: (key) => known.has(key),
  get: (key) => known.get(key),
  isRetired: (key) => key === 'chess',
};

function contextOf(shape: Partial<RowLayout>): LineContext {
  const layout: RowLayout = { delimiter: ',', columns: twoColumns, headerRow: null, ...shape };
  return { layout, rule: rowRule(layout, maxLineBytes), attributeIdByKey };
}

const csv = contextOf({});
const tsv = contextOf({ delimiter: '\t' });
const five = contextOf({ columns: fiveColumns });
const unhyphenated = contextOf({ unhyphenatedIds: true });
const accepted = (...attributeIds: number[]): RowStatus => ({
  outcome: 'accepted',
  row: { device: id, idType: 0, country: '', operation: 0, attributeIds, event: '' },
});
const rejected = (reason: RejectReason): RowStatus => ({ outcome: 'rejected', reason });
const skipped: RowStatus = { outcome: 'skipped' };

type Case = { readonly line: string | Uint8Array; readonly status: RowStatus; readonly row?: number };

const good: readonly Case[] = [
  { line: `${id},sport`, status: accepted(11) },
  { line: `${id},sport|news`, status: accepted(11, 12) },
  { line: `${id},news|sport|news`, status: accepted(12, 11) },
  { line: `${id.toUpperCase()},sport`, status: accepted(11) },
  { line: `${id},sport\r`, status: accepted(11) },
  { line: `"${id}",sport`, status: accepted(11) },
  { line: `"${id}","sport"`, status: accepted(11) },
  { line: `${id},"a,b|sport"`, status: accepted(13, 11) },
  { line: `${id},"say ""hi"""`, status: accepted(14) },
  { line: `${id},"sport"\r`, status: accepted(11) },
  { line: `${id},ключ`, status: accepted(15) },
  { line: ` ${id} , sport `, status: accepted(11) },
  { line: ` "${id}" , "sport" \r`, status: accepted(11) },
  { line: `${id},sport`.padEnd(maxLineBytes, ' '), status: accepted(11) },
  { line: `\uFEFF${id},sport`, row: 1, status: accepted(11) },
  { line: `\uFEFF"${id}",sport`, row: 1, status: accepted(11) },
  // The ID and comma take 37 bytes and the keys take 83 bytes. The sum is exactly the line size limit.
  {
    line: `${id},${Array.from({ length: 14 }, () => 'sport').join('|')}`,
    status: accepted(11),
  },
];

const bad: readonly Case[] = [
  { line: `${id},golf`.padEnd(maxLineBytes, ' '), status: rejected('unknown_key') },
  { line: `${id},sport`.padEnd(maxLineBytes + 1, ' '), status: rejected('line_too_long') },
  { line: `${`${id},golf`.padEnd(maxLineBytes, ' ')}\r`, status: rejected('unknown_key') },
  { line: Buffer.alloc(maxLineBytes + 1, 0xff), status: rejected('line_too_long') },
  { line: Buffer.from([0xff]), status: rejected('invalid_utf8') },
  { line: Buffer.concat([Buffer.from(`${id},`), Buffer.from('c080', 'hex')]), status: rejected('invalid_utf8') },
  { line: Buffer.concat([Buffer.from(`${id},`), Buffer.from('eda080', 'hex')]), status: rejected('invalid_utf8') },
  { line: id, status: rejected('wrong_column_count') },
  { line: `${id},sport,`, status: rejected('wrong_column_count') },
  { line: `${id}\tsport`, status: rejected('wrong_column_count') },
  { line: `${id},a,b`, status: rejected('wrong_column_count') },
  { line: `"${id},sport`, status: rejected('wrong_column_count') },
  { line: `${id},sp"ort`, status: rejected('wrong_column_count') },
  { line: `"${id}"x,sport`, status: rejected('wrong_column_count') },
  { line: `"`, status: rejected('wrong_column_count') },
  { line: ` `, status: rejected('wrong_column_count') },
  { line: `\r\r`, status: rejected('wrong_column_count') },
  { line: `,sport`, status: rejected('empty_id') },
  { line: `"",sport`, status: rejected('empty_id') },
  { line: `,`, status: rejected('empty_id') },
  { line: `00000000-0000-0000-0000-000000000000,sport`, status: rejected('zero_id') },
  { line: `00000000-0000-0000-0000-000000000000,golf`, status: rejected('zero_id') },
  { line: `${'a'.repeat(32)},sport`, status: rejected('hashed_id') },
  { line: `${'B'.repeat(40)},sport`, status: rejected('hashed_id') },
  { line: `${'0'.repeat(64)},sport`, status: rejected('hashed_id') },
  { line: `nonsense,sport`, status: rejected('invalid_id') },
  { line: `" ${id}",sport`, status: rejected('invalid_id') },
  { line: `\u00a0${id},sport`, status: rejected('invalid_id') },
  { line: `{${id}},sport`, status: rejected('invalid_id') },
  { line: `${id}\0,sport`, status: rejected('invalid_id') },
  { line: `${id.replace('c', 'g')},sport`, status: rejected('invalid_id') },
  { line: `\uFEFF${id},sport`, row: 2, status: rejected('invalid_id') },
  { line: `\uFEFF\uFEFF${id},sport`, row: 1, status: rejected('invalid_id') },
  { line: `id,keys`, status: rejected('invalid_id') },
  { line: `${id},golf`, status: rejected('unknown_key') },
  { line: `${id},sport|golf`, status: rejected('unknown_key') },
  { line: `${id},`, status: rejected('empty_keys') },
  { line: `${id}, `, status: rejected('empty_keys') },
  { line: `${id},sport|`, status: rejected('empty_keys') },
  { line: `${id},golf| |sport`, status: rejected('empty_keys') },
  { line: `${id},chess`, status: rejected('retired_key') },
  { line: `${id},sport| chess`, status: rejected('retired_key') },
  { line: `${id},chess|golf`, status: rejected('unknown_key') },
  { line: `${id},Sport`, status: rejected('unknown_key') },
];

const member = (event: string): RowStatus => ({
  outcome: 'accepted',
  row: { device: id, idType: 0, country: '', operation: 0, attributeIds: [], event },
});
/** The limit counts characters, not bytes or UTF-16 units. Each of these characters takes four bytes and two units. */
const smiles = (count: number): string => '🙂'.repeat(count);

const memberRows: readonly Case[] = [
  { line: `${id},`, status: member('') },
  { line: `${id},app open`, status: member('app open') },
  { line: `${id}, app open `, status: member('app open') },
  { line: `${id}," app open "`, status: member(' app open ') },
  { line: `${id}, `, status: member('') },
  { line: `"${id}","a, b"`, status: member('a, b') },
  { line: `${id},${smiles(256)}`, status: member(smiles(256)) },
  { line: `${id},${smiles(257)}`, status: rejected('event_too_long') },
  { line: `${id},${'x'.repeat(257)}`, status: rejected('event_too_long') },
  { line: `nonsense,${'x'.repeat(257)}`, status: rejected('invalid_id') },
  { line: id, status: rejected('wrong_column_count') },
  { line: `${id},a,b`, status: rejected('wrong_column_count') },
];

const fiveColumnRows: readonly Case[] = [
  {
    line: `${id},1,DE,0,sport`,
    status: {
      outcome: 'accepted',
      row: { device: id, idType: 1, country: 'DE', operation: 0, attributeIds: [11], event: '' },
    },
  },
  {
    line: `${id},3,,1,sport|news`,
    status: {
      outcome: 'accepted',
      row: { device: id, idType: 3, country: '', operation: 1, attributeIds: [11, 12], event: '' },
    },
  },
  {
    line: `${id},3,"us",0,"a,b"\r`,
    status: {
      outcome: 'accepted',
      row: { device: id, idType: 3, country: 'US', operation: 0, attributeIds: [13], event: '' },
    },
  },
  { line: `${id},2,DE,0,sport`, status: rejected('invalid_id_type') },
  { line: `${id},,DE,0,sport`, status: rejected('invalid_id_type') },
  { line: `${id},1,UK,0,sport`, status: rejected('invalid_country') },
  { line: `${id},1,De,0,sport`, status: rejected('invalid_country') },
  { line: `${id},1,DE,2,sport`, status: rejected('invalid_operation') },
  { line: `${id},1,DE,,sport`, status: rejected('invalid_operation') },
  { line: `${id},1,DE,0,golf`, status: rejected('unknown_key') },
  { line: `${id},sport`, status: rejected('wrong_column_count') },
];

const blank: readonly Case[] = [
  { line: '', status: skipped },
  { line: '\r', status: skipped },
  { line: '\uFEFF', row: 1, status: skipped },
  { line: '\uFEFF\r', row: 1, status: skipped },
  { line: '\uFEFF', row: 2, status: rejected('wrong_column_count') },
];

const validate = ({ line, row = 7 }: Omit<Case, 'status'>, context: LineContext): RowStatus =>
  validateRow(typeof line === 'string' ? Buffer.from(line) : line, row, context);

describe('validateRow', () => {
  it.each([...good, ...bad, ...blank])('CSV: $line in row $row is $status.outcome $status.reason', (one) => {
    expect(validate(one, csv)).toEqual(one.status);
  });

  it.each<Case>([
    { line: `${id}\tsport|news`, status: accepted(11, 12) },
    { line: `${id}\ta,b`, status: accepted(13) },
    { line: `${id}\t"a\tb"`, status: accepted(16) },
    { line: `"${id}"\t"sport"\r`, status: accepted(11) },
    { line: `${id},sport`, status: rejected('wrong_column_count') },
    { line: `${id}\tsport\t`, status: rejected('wrong_column_count') },
  ])('TSV: $line is $status.outcome $status.reason', (one) => {
    expect(validate(one, tsv)).toEqual(one.status);
  });

  it.each(fiveColumnRows)('five columns: $line is $status.outcome $status.reason', (one) => {
    expect(validate(one, five)).toEqual(one.status);
  });

  it('skips the header regardless of its content', () => {
    const context = contextOf({ headerRow: 3 });
    expect(validate({ line: 'id,keys', row: 3 }, context)).toEqual(skipped);
    expect(validate({ line: `${id},sport`, row: 3 }, context)).toEqual(skipped);
    expect(validate({ line: 'id,keys', row: 4 }, context)).toEqual(rejected('invalid_id'));
  });

  it.each(memberRows)('audience: $line is $status.outcome $status.reason', (one) => {
    const layout: RowLayout = { delimiter: ',', columns: memberColumns, headerRow: null };
    expect(validate(one, { layout, rule: rowRule(layout, 2000), attributeIdByKey })).toEqual(one.status);
  });

  it('has a test case for every reject reason', () => {
    const reasons = [...bad, ...fiveColumnRows, ...memberRows].flatMap(({ status }) =>
      status.outcome === 'rejected' ? [status.reason] : [],
    );
    expect([...new Set(reasons)]).toEqual(expect.arrayContaining<string>(Object.keys(rejectReasons)));
  });

  it('returns a status for any bytes in any row', () => {
    const byte = fc.oneof(fc.constantFrom(...Buffer.from(`",|\t\r\uFEFF${id}`)), fc.integer({ min: 0, max: 255 }));
    const line = fc.oneof(
      fc.array(byte, { maxLength: 200 }).map((bytes) => Uint8Array.from(bytes)),
      fc.uint8Array({ maxLength: 200 }),
    );
    fc.assert(
      fc.property(line, fc.integer({ min: 1, max: 3 }), fc.constantFrom(csv, tsv), (bytes, row, context) => {
        expect(['skipped', 'rejected', 'accepted']).toContain(validateRow(bytes, row, context).outcome);
      }),
      { numRuns: 2000 },
    );
  });

  it('accepts every well-formed ID with a known key and lowercases the ID', () => {
    const knownKey = fc.constantFrom('sport', 'news', 'ключ');
    const text = fc.uuid().map((uuid) => uuid.toUpperCase());
    fc.assert(
      fc.property(text, fc.array(knownKey, { minLength: 1, maxLength: 3 }), (uuid, keys) => {
        expect(validate({ line: `${uuid},${keys.join('|')}` }, csv)).toMatchObject({
          outcome: 'accepted',
          row: {
            device: uuid.toLowerCase(),
            attributeIds: [...new Set(keys.map((key) => attributeIdByKey.get(key)))],
            event: '',
          },
        });
      }),
    );
  });
});

describe('an ID without hyphens', () => {
  const bare = id.replaceAll('-', '');

  it('identifies the same device as the ID with hyphens if the partner may send such IDs', () => {
    for (const given of [bare, bare.toUpperCase(), `"${bare}"`, ` ${bare} `, id])
      expect(validateRow(Buffer.from(`${given},sport`), 1, unhyphenated)).toEqual(accepted(11));
  });

  it.each([
    { given: bare, context: csv, reason: 'hashed_id' },
    { given: '0'.repeat(32), context: csv, reason: 'hashed_id' },
    { given: '0'.repeat(32), context: unhyphenated, reason: 'zero_id' },
    { given: 'a'.repeat(40), context: unhyphenated, reason: 'hashed_id' },
    { given: 'a'.repeat(64), context: unhyphenated, reason: 'hashed_id' },
    { given: `${bare.slice(0, 31)}g`, context: unhyphenated, reason: 'invalid_id' },
    { given: `${bare.slice(0, 8)}-${bare.slice(8)}`, context: unhyphenated, reason: 'invalid_id' },
    { given: `${bare.slice(0, 8)}-${bare.slice(9)}`, context: unhyphenated, reason: 'invalid_id' },
  ])('$given is rejected with $reason', ({ given, context, reason }) => {
    expect(validateRow(Buffer.from(`${given},sport`), 1, context)).toEqual({ outcome: 'rejected', reason });
  });
});
