export type Delimiter = ',' | '\t';
export type ColumnName = 'id' | 'id_type' | 'country' | 'operation' | 'keys' | 'event';

/** The format of the lines in one file. */
export type RowLayout = {
  readonly delimiter: Delimiter;
  readonly columns: readonly ColumnName[];
  /** The line number of the header. Null if the file has no header. */
  readonly headerRow: number | null;
  /** Whether the partner may also send IDs without hyphens. Otherwise, 32 hexadecimal digits are treated as a hash. */
  readonly unhyphenatedIds?: boolean;
};

type Columns = readonly ColumnName[];

/** Decision 11: all rows of a file have the same columns. With two columns, every row is an add. */
export const twoColumns: Columns = ['id', 'keys'];
export const fiveColumns: Columns = ['id', 'id_type', 'country', 'operation', 'keys'];

/** Decision 14. */
export const memberColumns: Columns = ['id', 'event'];

/** The layouts that each kind of job accepts. */
export const marketplaceShapes: readonly Columns[] = [twoColumns, fiveColumns];
export const audienceShapes: readonly Columns[] = [memberColumns];

/**
 * Patterns for lines with quotes, following RFC 4180 within one line. A field is either fully quoted, with optional
 * spaces around the quotes, or contains no quotes. A line without quotes is split at the delimiter, which is much
 * cheaper. The tab is written as a regular expression escape, so that SQL quoting does not change it.
 */
export function quotedFieldPatterns(delimiter: Delimiter): { readonly line: string; readonly field: string } {
  const sign = delimiter === '\t' ? '\\t' : delimiter;
  const field = `( *"(?:[^"]|"")*" *|[^"${sign}]*)`;
  return { line: `^${field}(?:${sign}${field})*$`, field: `${sign}${field}` };
}

/**
 * Decision 15: spaces around a field are not part of the field, but spaces inside quotes are. A regular expression
 * would take quadratic time for a long run of spaces.
 */
export function trimSpaces(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === ' ') start += 1;
  while (end > start && text[end - 1] === ' ') end -= 1;
  return text.slice(start, end);
}

/** Returns the trimmed fields of a line, or an empty list if its quotes are unbalanced. */
export function splitLine(text: string, delimiter: Delimiter): readonly string[] {
  if (!text.includes('"')) return text.split(delimiter).map(trimSpaces);
  const patterns = quotedFieldPatterns(delimiter);
  if (!new RegExp(patterns.line).test(text)) return [];
  const found = (delimiter + text).matchAll(new RegExp(patterns.field, 'g'));
  return Array.from(found, ([, raw = '']) => {
    const field = trimSpaces(raw);
    return field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
  });
}

/** Reject reasons, in the order of the checks. A rejected row has the first reason that applies. */
export const rejectReasons = {
  line_too_long: 'The line exceeds the line size limit (102,400 bytes by default).',
  invalid_utf8: 'The line is not valid UTF-8.',
  wrong_column_count: 'The row has the wrong number of columns for this file, or its quotes are not balanced.',
  empty_id: 'The advertising ID is empty.',
  zero_id: 'The advertising ID is all zeros: ad tracking is limited on the device.',
  hashed_id: 'The advertising ID appears to be hashed (32, 40, or 64 hexadecimal digits). Send plain IDs.',
  invalid_id: 'The advertising ID does not have the form 8-4-4-4-12 hexadecimal digits.',
  invalid_id_type: 'The ID type must be 1 (IDFA) or 3 (AAID).',
  invalid_country: 'The country must be empty or an ISO 3166-1 alpha-2 code (use GB for the United Kingdom).',
  invalid_operation: 'The operation must be 0 (add) or 1 (delete).',
  empty_keys: 'The row has no key, or an empty key before or after a separator.',
  unknown_key: 'The row has an unknown key. Check key_type if every row fails.',
  retired_key: 'The row has a key of a retired attribute, which accepts no imports.',
  event_too_long: 'The event exceeds 256 characters.',
} as const;

export type RejectReason = keyof typeof rejectReasons;

export function isRejectReason(text: string): text is RejectReason {
  return Object.hasOwn(rejectReasons, text);
}

const columnByReason: Partial<Record<RejectReason, ColumnName>> = {
  empty_id: 'id',
  zero_id: 'id',
  hashed_id: 'id',
  invalid_id: 'id',
  invalid_id_type: 'id_type',
  invalid_country: 'country',
  invalid_operation: 'operation',
  empty_keys: 'keys',
  unknown_key: 'keys',
  retired_key: 'keys',
  event_too_long: 'event',
};

/** Returns the column that a reason refers to. Null if it refers to the whole line. */
export function columnOfReason(reason: RejectReason): ColumnName | null {
  return columnByReason[reason] ?? null;
}

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

/** An empty value means unknown. Uppercase and lowercase are accepted, and uppercase is stored. */
export const countryValues: readonly string[] = [
  '',
  ...countryCodes,
  ...countryCodes.map((code) => code.toLowerCase()),
];

// Patterns are strings without flags in the common subset of JavaScript and RE2, because TypeScript and ClickHouse use
// the same text.
const hex = '[0-9a-fA-F]';

/** Decision 10: the UUID version is not checked, because some platforms use v5. */
export const advertisingIdPattern = `^${hex}{8}(-${hex}{4}){3}-${hex}{12}$`;

type IdPatterns = {
  readonly advertisingId: string;
  /** Platforms report an all-zero ID for users who limit ad tracking. */
  readonly zeroId: string;
  /** MD5, SHA-1, and SHA-256 in hexadecimal. An MD5 hash looks like an ID without hyphens. */
  readonly hashedId: string;
};

const hyphenated: IdPatterns = {
  advertisingId: advertisingIdPattern,
  zeroId: '^0{8}(-0{4}){3}-0{12}$',
  hashedId: `^(${hex}{32}|${hex}{40}|${hex}{64})$`,
};
const withOrWithoutHyphens: IdPatterns = {
  advertisingId: `^(${hex}{32}|${hex}{8}(-${hex}{4}){3}-${hex}{12})$`,
  zeroId: '^(0{32}|0{8}(-0{4}){3}-0{12})$',
  hashedId: `^(${hex}{40}|${hex}{64})$`,
};

export function idPatterns({ unhyphenatedIds }: Pick<RowLayout, 'unhyphenatedIds'>): IdPatterns {
  return unhyphenatedIds === true ? withOrWithoutHyphens : hyphenated;
}

/** The length of an ID without hyphens. */
export const unhyphenatedLength = 32;

/**
 * The groups that hyphens separate: the start of each group in an ID without hyphens, counted from 0, and its length.
 */
export const idGroups: readonly (readonly [start: number, length: number])[] = [
  [0, 8],
  [8, 4],
  [12, 4],
  [16, 4],
  [20, 12],
];

/**
 * The format of a foreign key. Foreign keys appear in files, so they must not contain the separator or control
 * characters. They must not start or end with a space, because such spaces are trimmed when a file is read.
 */
// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const foreignKey = /^(?! )[^|\u0000-\u001f\u007f]{1,200}(?<! )$/u;

/** Attribute IDs are matched exactly, so `01` does not match 1. */
const attributeId = /^[1-9][0-9]{0,15}$/;

/**
 * Maps keys as they occur in files, where they are trimmed. Older keys can have leading or trailing spaces, which are
 * now rejected. Such a key is found by its trimmed form, unless that form is itself a key. If several such keys have
 * the same trimmed form, the first one is used.
 */
export function keysInFiles<T>(keys: readonly (readonly [key: string, value: T])[]): Map<string, T> {
  const found = new Map(keys.filter(([key]) => trimSpaces(key) === key));
  for (const [key, value] of keys) {
    const trimmed = trimSpaces(key);
    if (trimmed !== '' && !found.has(trimmed)) found.set(trimmed, value);
  }
  return found;
}

export function canBeForeignKey(key: string): boolean {
  return foreignKey.test(key);
}

export function canBeAttributeId(key: string): boolean {
  return attributeId.test(key);
}

/**
 * The row rule is defined once, as data. `validate-row.ts` interprets it in TypeScript, and
 * `adapters/clickhouse/row-rule-sql.ts` converts it to SQL for ClickHouse. A differential test passes the same lines to
 * both.
 */
export type Condition =
  | { readonly is: 'line_longer_than'; readonly bytes: number }
  | { readonly is: 'line_not_utf8' }
  | { readonly is: 'column_count_not'; readonly count: number }
  | { readonly is: 'empty'; readonly column: ColumnName }
  | { readonly is: 'zero_id' | 'hashed_id' | 'invalid_id' }
  | { readonly is: 'not_one_of'; readonly column: ColumnName; readonly values: readonly string[] }
  | { readonly is: 'longer_than'; readonly column: ColumnName; readonly characters: number }
  | { readonly is: 'empty_key' | 'unknown_key' | 'retired_key'; readonly column: ColumnName };

export type RowCheck = { readonly reason: RejectReason; readonly when: Condition };

/** Decision 14. */
export const maxEventCharacters = 256;

/** Separates the keys of one row. */
export const keySeparator = '|';

/**
 * Returns the checks for a row, in order. The first check that applies determines the reject reason. If none applies,
 * the row is valid.
 */
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
    { reason: 'empty_keys', when: { is: 'empty_key', column: 'keys' } },
    { reason: 'unknown_key', when: { is: 'unknown_key', column: 'keys' } },
    { reason: 'retired_key', when: { is: 'retired_key', column: 'keys' } },
    { reason: 'event_too_long', when: { is: 'longer_than', column: 'event', characters: maxEventCharacters } },
  ];
  return checks.filter(({ when }) => !('column' in when) || layout.columns.includes(when.column));
}
