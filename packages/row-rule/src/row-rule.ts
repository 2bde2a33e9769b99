import type { RejectReason } from './reject-reason.ts';
import type { ColumnName, RowLayout } from './row-layout.ts';

/** All officially assigned ISO 3166-1 alpha-2 codes. */
export const countryCodes: readonly string[] = (
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
  'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR ' +
  'GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO ' +
  'JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR ' +
  'MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO ' +
  'RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV ' +
  'TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
).split(' ');

/** Values of the ID type and operation columns (decision 11). */
const idType = { idfa: 1, aaid: 3 } as const;
export const operation = { add: 0, delete: 1 } as const;

export const idTypeValues: readonly string[] = [String(idType.idfa), String(idType.aaid)];
export const operationValues: readonly string[] = [String(operation.add), String(operation.delete)];

/** Empty means unknown. Either case is accepted; uppercase is stored. */
export const countryValues: readonly string[] = [
  '',
  ...countryCodes,
  ...countryCodes.map((code) => code.toLowerCase()),
];

// Patterns are strings in the common subset of JavaScript and RE2 (no flags), because TypeScript and the engine use
// the same text.
const hex = '[0-9a-fA-F]';

/** Decision 10: the UUID version is not checked, because some platforms use v5. */
export const advertisingIdPattern = `^${hex}{8}(-${hex}{4}){3}-${hex}{12}$`;

/** Platforms report zeros for users who limit ad tracking. */
export const zeroIdPattern = '^0{8}(-0{4}){3}-0{12}$';

/** MD5, SHA-1, and SHA-256 in hexadecimal. */
export const hashedIdPattern = `^(${hex}{32}|${hex}{40}|${hex}{64})$`;

/**
 * The form of a foreign key. A file must be able to contain the key, so it has no separator and no control characters.
 */
// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const foreignKey = /^[^|\u0000-\u001f\u007f]{1,200}$/u;

/** Attribute IDs are matched exactly: `01` is not 1. */
const attributeId = /^[1-9][0-9]{0,15}$/;

export function canBeForeignKey(key: string): boolean {
  return foreignKey.test(key);
}

export function canBeAttributeId(key: string): boolean {
  return attributeId.test(key);
}

/**
 * The row rule is data, so that it exists once: `validate-row.ts` interprets it in TypeScript, and
 * `adapters/clickhouse/row-rule-sql.ts` turns it into the engine's expression. A differential test feeds the same lines
 * to both.
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

/** Separates the keys of one row. */
export const keySeparator = '|';

/** The checks for a row, in order. The first that applies is the reject reason; if none applies, the row is valid. */
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
