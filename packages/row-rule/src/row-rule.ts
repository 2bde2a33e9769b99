import type { RejectReason } from './reject-reason.ts';
import type { ColumnName, RowLayout } from './row-layout.ts';

/** ISO 3166-1 alpha-2, all officially assigned codes. */
export const countryCodes: readonly string[] = (
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
  'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR ' +
  'GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO ' +
  'JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR ' +
  'MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO ' +
  'RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV ' +
  'TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
).split(' ');

/** Decision 11: what stands in the columns of a row, beside the id and the keys. */
const idType = { idfa: 1, aaid: 3 } as const;
export const operation = { add: 0, delete: 1 } as const;

export const idTypeValues: readonly string[] = [String(idType.idfa), String(idType.aaid)];
export const operationValues: readonly string[] = [String(operation.add), String(operation.delete)];

/** Empty means unknown. Both spellings are taken, the upper-case one is kept. */
export const countryValues: readonly string[] = [
  '',
  ...countryCodes,
  ...countryCodes.map((code) => code.toLowerCase()),
];

// Patterns are strings in the common subset of JavaScript and RE2 (no flags), because the same text judges a row
// in TypeScript and in the engine.
const hex = '[0-9a-fA-F]';

/** Decision 10: the UUID version is not checked, some platforms use v5. */
export const advertisingIdPattern = `^${hex}{8}(-${hex}{4}){3}-${hex}{12}$`;

/** Limited tracking: the platform gives out zeros for a person who opted out. */
export const zeroIdPattern = '^0{8}(-0{4}){3}-0{12}$';

/** MD5, SHA-1 and SHA-256 in hexadecimal. */
export const hashedIdPattern = `^(${hex}{32}|${hex}{40}|${hex}{64})$`;

/**
 * What a key of a file can look like at all; whether it is a key of the partner only its attributes tell. A foreign key
 * must be able to stand in a file: no separator, no control character.
 */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const foreignKey = /^[^|\u0000-\u001f\u007f]{1,200}$/u;

/** As an id is written: compared to the letter, `01` is not 1. */
const attributeId = /^[1-9][0-9]{0,15}$/;

export function canBeForeignKey(key: string): boolean {
  return foreignKey.test(key);
}

export function canBeAttributeId(key: string): boolean {
  return attributeId.test(key);
}

/**
 * The rule for a row is data, so that it is written once: `validate-row.ts` interprets it in TypeScript and
 * `adapters/clickhouse/row-rule-sql.ts` makes the engine's expression from it. A differential test feeds the same
 * lines to both.
 */
export type Condition =
  | { readonly is: 'line_longer_than'; readonly bytes: number }
  | { readonly is: 'line_not_utf8' }
  | { readonly is: 'column_count_not'; readonly count: number }
  | { readonly is: 'empty'; readonly column: ColumnName }
  | { readonly is: 'zero_id' | 'hashed_id' | 'invalid_id' }
  | { readonly is: 'not_one_of'; readonly column: ColumnName; readonly values: readonly string[] }
  | { readonly is: 'longer_than'; readonly column: ColumnName; readonly characters: number }
  | { readonly is: 'unknown_key'; readonly column: ColumnName };

export type RowCheck = { readonly reason: RejectReason; readonly when: Condition };

/** Decision 14. */
export const maxEventCharacters = 256;

/** Keys of one row are separated by this. */
export const keySeparator = '|';

/** The checks of a row in order; the first that applies gives the reason, none means that the row is good. */
export function rowRule(layout: RowLayout, maxLineBytes: number): readonly RowCheck[] {
  const checks: RowCheck[] = [
    { reason: 'line_too_long', when: { is: 'line_longer_than', bytes: maxLineBytes } },
    { reason: 'invalid_utf8', when: { is: 'line_not_utf8' } },
    { reason: 'wrong_column_count', when: { is: 'column_count_not', count: layout.columns.length } },
    { reason: 'empty_id', when: { is: 'empty', column: 'id' } },
    { reason: 'zero_id', when: { is: 'zero_id' } },
    { reason: 'hashed_id', when: { is: 'hashed_id' } },
    { reason: 'invalid_id', when: { is: 'invalid_id' } },
    { reason: 'invalid_id_type', when: { is: 'not_one_of', column: 'id_type', values: idTypeValues } },
    { reason: 'invalid_country', when: { is: 'not_one_of', column: 'country', values: countryValues } },
    { reason: 'invalid_operation', when: { is: 'not_one_of', column: 'operation', values: operationValues } },
    { reason: 'unknown_key', when: { is: 'unknown_key', column: 'keys' } },
    { reason: 'event_too_long', when: { is: 'longer_than', column: 'event', characters: maxEventCharacters } },
  ];
  return checks.filter(({ when }) => !('column' in when) || layout.columns.includes(when.column));
}
