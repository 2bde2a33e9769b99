import {
  type ColumnName,
  type Condition,
  type RejectReason,
  type RowLayout,
  columnOfReason,
  idGroups,
  idPatterns,
  isRejectReason,
  keySeparator,
  operation,
  quotedFieldPatterns,
  rejectReasons,
  rowRule,
  unhyphenatedLength,
} from '@inlet/row-rule/row-rule';
import type { SuppressionList } from '../../domain/suppression.ts';
import type { LoadTarget } from '../../ports/load-stage.ts';
import { suppressionStep } from './suppression-sql.ts';

// Within a statement, the row status is a number. It is 0 for an accepted row and otherwise the position of the reject
// reason. Numbers are much cheaper to compute and count than names. Stored rows contain the names.

const reasons = Object.keys(rejectReasons);

function rowStatusOf(reason: RejectReason): number {
  return reasons.indexOf(reason) + 1;
}

/** SQL that maps a row status to its reject reason. The reason is empty for an accepted row. */
export function reasonSql(rowStatus: string): string {
  const names = ['', ...reasons].map((name) => `'${name}'`);
  return `[${names.join(', ')}][${rowStatus} + 1]`;
}

/** SQL that maps a row status to the column of its reject reason. The column is empty if the whole line is wrong. */
export function rejectColumnSql(rowStatus: string): string {
  const names = ['', ...reasons.map((name) => (isRejectReason(name) && columnOfReason(name)) || '')];
  return `[${names.map((name) => `'${name}'`).join(', ')}][${rowStatus} + 1]`;
}

/** Marks that a server has all keys of a job. No line contains this key, because it is a line break. */
export const endOfKeys = '\n';

/**
 * The error that a statement throws on a server that lacks keys of the job. Without this check, rows with these keys
 * would be rejected.
 */
export const keysMissing = 'Keys of the job are missing on this server';

/** The input of a statement: the lines of one file, or many small files, each with its header's line number. */
export type Arrival = 'lines' | 'files';

export type StageTarget = {
  /** Null for a load in the shared stage. */
  readonly stagingTable: string | null;
  readonly suppression: SuppressionList;
  readonly shards: number;
};

/**
 * Returns the INSERT statement that receives a load's bytes. It writes to the shared stage or to a staging table. Rows
 * are numbered before blank lines are dropped, so that row numbers equal line numbers in the file.
 */
export function stageSql(
  kind: LoadTarget['kind'],
  arrival: Arrival,
  layout: RowLayout,
  maxLineBytes: number,
  { stagingTable, suppression, shards }: StageTarget,
): string {
  const { keys, shared, own } = destinations[kind];
  const columns = ['file_id', 'header_row', 'row', 'length(bytes) + 1 AS size', `${rawSql(maxLineBytes)} AS raw`];
  const lines = `${keys.with}SELECT ${[...columns, ...keys.columns].join(', ')} FROM (${arrivals[arrival].lines})`;
  return `INSERT INTO ${stagingTable === null ? shared.into : `${stagingTable} ${own.into}`}
SELECT ${stagingTable === null ? shared.values : own.values}
FROM (${[...rowStatusSteps(layout, maxLineBytes), ...suppressionStep(suppression, kind, shards)].reduce(addColumns, lines)})
WHERE ${isDataRowSql}
FORMAT ${arrivals[arrival].format}`;
}

/** Returns the INSERT statement that reads one file and keeps only its rejected rows. */
export function rejectsSql(
  kind: LoadTarget['kind'],
  layout: RowLayout,
  maxLineBytes: number,
  tables: { readonly rows: string; readonly keys: string },
): string {
  const { columns: keyColumns } = destinations[kind].keys;
  const columns = ['file_id', 'header_row', 'row', `${rawSql(maxLineBytes)} AS raw`, ...keyColumns];
  const keys = keyColumns.length === 0 ? '' : keysSql(tables.keys);
  const lines = `${keys}SELECT ${columns.join(', ')} FROM (${arrivals.lines.lines})`;
  return `INSERT INTO ${tables.rows} (file_id, row, row_status, line)
SELECT file_id, row, row_status, ${rejectedLine}
FROM (${rowStatusSteps(layout, maxLineBytes).reduce(addColumns, lines)})
WHERE ${isDataRowSql} AND row_status != 0
FORMAT ${arrivals.lines.format}`;
}

/** The keys of a job as constant arrays. Throws if the table lacks keys. */
function keysSql(rows: string): string {
  return `WITH (
        SELECT (groupArray(key), groupArray(meaning)) FROM (
          SELECT key, min(attribute_id) AS meaning FROM ${rows} GROUP BY key
        )
        HAVING throwIf(countIf(key = '\\n') = 0, '${keysMissing}') = 0
      ) AS job_keys `;
}

/** Named expressions that are computed from the columns of the previous step. */
type Step = readonly string[];

/**
 * Each step is a subquery. ClickHouse merges the steps into one expression, so they add no cost per row. If the steps
 * were aliases in one WITH clause, ClickHouse would analyze a named expression again wherever it is used, which took
 * 40 ms of CPU time per statement instead of 20 ms. The WHERE clause is outside all steps. Inside a step, it would make
 * ClickHouse compute `line` for every row.
 */
function addColumns(from: string, step: Step): string {
  return `SELECT *, ${step.join(', ')} FROM (${from})`;
}

const arrivals: Readonly<Record<Arrival, { readonly lines: string; readonly format: string }>> = {
  lines: {
    lines: `SELECT {file: UInt64} AS file_id, {header_row: UInt32} AS header_row,
      rowNumberInAllBlocks() + 1 AS row, bytes FROM input('bytes String')`,
    format: 'LineAsString',
  },
  files: {
    lines: `SELECT file_id, header_row, row, bytes
      FROM (
        SELECT file_id, header_row, splitByChar('\\n', content) AS contents
        FROM input('file_id UInt64, header_row UInt32, content String')
      )
      ARRAY JOIN contents AS bytes, arrayEnumerate(contents) AS row`,
    format: 'RowBinary',
  },
};

/**
 * Values that all rows of a load share are constants in a staging table's views. In the shared stage, they are columns.
 */
type Destination = { readonly into: string; readonly values: string };

/** Omits the text of an accepted line, because it is not needed again. */
const rejectedLine = `if(row_status = 0, '', line)`;

type Destinations = {
  /** The keys of the job and the attributes that they refer to, as constant arrays. */
  readonly keys: { readonly with: string; readonly columns: Step };
  readonly shared: Destination;
  readonly own: Destination;
};

const destinations: Readonly<Record<LoadTarget['kind'], Destinations>> = {
  attributes: {
    keys: {
      with: keysSql('job_keys_local WHERE job_id = {job: UInt64}'),
      columns: ['job_keys.1 AS keys', 'job_keys.2 AS attribute_ids'],
    },
    shared: {
      into: `judged_lines
    (partner_id, job_id, load_id, file_id, version, row, bytes, reason, device, id_type, country, is_deleted,
     attribute_ids, line, stand_ins, is_sampled)`,
      values: `{partner: UInt64}, {job: UInt64}, {load: UInt64}, file_id,
  if(is_delete, {version_of_deletes: UInt64}, {version_of_adds: UInt64}),
  row, size, ${reasonSql('row_status')}, device, id_type, country, is_delete, row_attribute_ids, line,
  stand_ins, is_sampled`,
    },
    own: {
      into: '(file_id, row, bytes, row_status, device, id_type, country, is_deleted, attribute_ids, line, stand_ins, is_sampled)',
      values: `file_id, row, size, row_status, device, id_type, country, is_delete, row_attribute_ids, ${rejectedLine}, stand_ins, is_sampled`,
    },
  },
  audience: {
    keys: { with: '', columns: [] },
    shared: {
      into: 'judged_members (load_id, file_id, row, bytes, reason, device, event, line, stand_ins, is_sampled)',
      values: `{load: UInt64}, file_id, row, size, ${reasonSql('row_status')}, device, event, line, stand_ins, is_sampled`,
    },
    own: {
      into: '(file_id, row, bytes, row_status, device, event, line, stand_ins, is_sampled)',
      values: `file_id, row, size, row_status, device, event, ${rejectedLine}, stand_ins, is_sampled`,
    },
  },
};

/** Quotes a constant for SQL. Values from requests and files are passed as query parameters instead. */
function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\t', '\\t')}'`;
}

/**
 * Returns the row rule. The inputs are `raw` (a line, see `rawSql`) and `row` (its number). The result `row_status` is
 * 0 for an accepted row and otherwise the number of the reject reason. If the layout has a keys column, the constant
 * arrays `keys` and `attribute_ids` must be in scope.
 *
 * Nearly all lines are valid and have no quotes. The fast path (`plain`) assumes this for every line, and `is_good`
 * marks the lines for which the assumption holds. Only the other lines take the exact path (`line`, `fields`, and all
 * conditions). This works because ClickHouse evaluates an expression in a branch of `if` only for the rows that take
 * this branch. Branching costs more than most functions, so `is_good` uses bitAnd, which does not branch.
 */
function rowStatusSteps(layout: RowLayout, maxLineBytes: number): Step[] {
  const rule = rowRule(layout, maxLineBytes);
  const statuses = rule.flatMap(({ reason, when }) => [conditionSql(when, layout), String(rowStatusOf(reason))]);
  const hasKeys = layout.columns.includes('keys');
  return [
    [`row = 1 AND startsWith(raw, '\\xEF\\xBB\\xBF') AS is_marked`, `trimRight(raw, '\\r') AS trimmed`],
    [`substring(raw, 1 + 3 * is_marked, length(raw) - 3 * is_marked - endsWith(raw, '\\r')) AS line`],
    [`splitByChar(${literal(layout.delimiter)}, trimmed) AS plain`, `${fieldsSql(layout)} AS fields`],
    [
      `toUUIDOrZero(${idSql(layout, 'plain')}) AS plain_device`,
      ...(hasKeys
        ? [
            `${attributeIdsSql(`splitByChar(${literal(keySeparator)}, ${columnSql('keys', layout, 'plain')})`, 'plain')} AS plain_attribute_ids`,
            `arrayMap(key -> trimBoth(key), splitByChar(${literal(keySeparator)}, ${columnSql('keys', layout, 'fields')})) AS row_keys`,
          ]
        : []),
    ],
    [
      `${allOf([...isPlain, ...rule.flatMap(({ when }) => surelyNotSql(when, layout))])} AS is_good`,
      ...(hasKeys ? [`${attributeIdsSql('row_keys', 'fields')} AS exact_attribute_ids`] : []),
    ],
    [
      ...(hasKeys ? ['if(is_good, plain_attribute_ids, exact_attribute_ids) AS row_attribute_ids'] : []),
      `if(is_good, plain_device, toUUIDOrZero(${idSql(layout, 'fields')})) AS device`,
      `if(is_good, 0, multiIf(${statuses.join(', ')}, 0)) AS row_status`,
      `toUInt8OrZero(${eitherSql('id_type', layout)}) AS id_type`,
      `upper(${eitherSql('country', layout)}) AS country`,
      `${eitherSql('operation', layout)} = '${operation.delete}' AS is_delete`,
      `${eitherSql('event', layout)} AS event`,
    ],
  ];
}

/**
 * The line has no quotes and at most one trailing carriage return. A byte order mark needs no check, because it makes
 * the ID invalid.
 */
const isPlain: readonly string[] = [`position(trimmed, '"') = 0`, 'length(raw) - length(trimmed) <= 1'];

function allOf(tests: readonly string[]): string {
  return tests.reduce((all, test) => `bitAnd(${all}, ${test})`);
}

/** `keys` maps the keys of retired attributes to 0. On the fast path, an unknown key is also mapped to 0. */
const unknownAttribute: Readonly<Record<Split, string>> = { plain: 'toUInt64(0)', fields: 'toUInt64(-1)' };

function attributeIdsSql(keysOfRow: string, from: Split): string {
  return `arrayDistinct(arrayMap(key -> transform(key, keys, attribute_ids, ${unknownAttribute[from]}), ${keysOfRow}))`;
}

/**
 * Truncates a line that is too long, but to a length that still exceeds the limit. Without truncation, a line that
 * consists of 60 MB of delimiters would need a gigabyte of memory. The extra bytes cover a byte order mark and a
 * carriage return.
 */
function rawSql(maxLineBytes: number): string {
  return `substring(bytes, 1, ${maxLineBytes + 5})`;
}

/**
 * Excludes blank lines and the header. `header_row` must be in scope (0 if there is no header). A byte order mark and a
 * carriage return are four bytes, so a longer line is not blank.
 */
const isDataRowSql = `(length(raw) > 4 OR line != '') AND row != header_row`;

/** Splitting is cheap. Only lines with quotes need the regular expressions. */
function fieldsSql(layout: RowLayout): string {
  const delimiter = literal(layout.delimiter);
  const patterns = quotedFieldPatterns(layout.delimiter);
  const trim = (fields: string): string => `arrayMap(f -> trimBoth(f), ${fields})`;
  const unquote = `f -> if(startsWith(f, '"'), replaceAll(substring(f, 2, length(f) - 2), '""', '"'), f)`;
  const quoted = `arrayMap(${unquote}, ${trim(`extractAll(concat(${delimiter}, line), ${literal(patterns.field)})`)})`;
  return `multiIf(position(line, '"') = 0, ${trim(`splitByChar(${delimiter}, line)`)}, match(line, ${literal(patterns.line)}), ${quoted}, [])`;
}

/** The fields of a line. `plain` ignores quotes when it splits the line, and `fields` handles them. */
type Split = 'plain' | 'fields';

function columnSql(column: ColumnName, layout: RowLayout, from: Split): string {
  const index = layout.columns.indexOf(column);
  return index < 0 ? `''` : `${from}[${index + 1}]`;
}

/** The ID with hyphens. ClickHouse versions differ in whether they parse a UUID without hyphens. */
function idSql(layout: RowLayout, from: Split): string {
  const id = columnSql('id', layout, from);
  if (layout.unhyphenatedIds !== true) return id;
  const groups = idGroups.map(([start, length]) => `substring(${id}, ${start + 1}, ${length})`);
  return `if(length(${id}) = ${unhyphenatedLength}, concat(${groups.join(`, '-', `)}), ${id})`;
}

function eitherSql(column: ColumnName, layout: RowLayout): string {
  if (!layout.columns.includes(column)) return `''`;
  return `if(is_good, ${columnSql(column, layout, 'plain')}, ${columnSql(column, layout, 'fields')})`;
}

const zeroDevice = `toUUID('00000000-0000-0000-0000-000000000000')`;

/**
 * Returns cheap checks on the `plain` fields. If all of them pass, the condition is certainly false. An ID is valid if
 * its UUID, converted back to text, equals the ID. This comparison is necessary because ClickHouse versions before 26.6
 * parse almost any text as a UUID.
 */
function surelyNotSql(condition: Condition, layout: RowLayout): string[] {
  switch (condition.is) {
    case 'empty':
    case 'zero_id':
    case 'hashed_id':
      return [];
    case 'invalid_id':
      return [`lower(${idSql(layout, 'plain')}) = toString(plain_device)`, `plain_device != ${zeroDevice}`];
    case 'line_longer_than':
      return [`length(trimmed) <= ${condition.bytes}`];
    case 'line_not_utf8':
      // A valid ID is ASCII, and the delimiter is one byte.
      return layout.columns
        .filter((column) => column !== 'id')
        .map((column) => `isValidUTF8(${columnSql(column, layout, 'plain')})`);
    case 'column_count_not':
      return [`length(plain) = ${condition.count}`];
    case 'longer_than': {
      // Spaces around the other columns make them invalid, so only this column must be checked for spaces.
      const text = columnSql(condition.column, layout, 'plain');
      return [
        `length(${text}) <= ${condition.characters}`,
        `NOT startsWith(${text}, ' ')`,
        `NOT endsWith(${text}, ' ')`,
      ];
    }
    case 'not_one_of':
      return [`${columnSql(condition.column, layout, 'plain')} IN (${condition.values.map(literal).join(', ')})`];
    case 'empty_key':
    case 'retired_key':
      return [];
    case 'unknown_key':
      return ['NOT has(plain_attribute_ids, 0)'];
  }
}

function conditionSql(condition: Condition, layout: RowLayout): string {
  switch (condition.is) {
    case 'line_longer_than':
      return `length(line) > ${condition.bytes}`;
    case 'line_not_utf8':
      return 'NOT isValidUTF8(line)';
    case 'column_count_not':
      return `length(fields) != ${condition.count}`;
    case 'empty':
      return `${columnSql(condition.column, layout, 'fields')} = ''`;
    case 'zero_id':
      return `match(${columnSql('id', layout, 'fields')}, ${literal(idPatterns(layout).zeroId)})`;
    case 'hashed_id':
      return `match(${columnSql('id', layout, 'fields')}, ${literal(idPatterns(layout).hashedId)})`;
    case 'invalid_id':
      return `NOT match(${columnSql('id', layout, 'fields')}, ${literal(idPatterns(layout).advertisingId)})`;
    case 'not_one_of':
      return `${columnSql(condition.column, layout, 'fields')} NOT IN (${condition.values.map(literal).join(', ')})`;
    case 'longer_than':
      return `lengthUTF8(${columnSql(condition.column, layout, 'fields')}) > ${condition.characters}`;
    case 'empty_key':
      return `has(row_keys, '')`;
    case 'unknown_key':
      return `has(exact_attribute_ids, ${unknownAttribute.fields})`;
    case 'retired_key':
      return 'has(exact_attribute_ids, 0)';
  }
}
