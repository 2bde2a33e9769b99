import {
  type Condition,
  advertisingIdPattern,
  hashedIdPattern,
  keySeparator,
  operation,
  rowRule,
  zeroIdPattern,
} from '@inlet/row-rule/row-rule';
import { type ColumnName, type RowLayout, quotedFieldPatterns } from '@inlet/row-rule/row-layout';
import { verdictOf } from './load-results.ts';

/** Quotes text for SQL. Only for text of our own: what comes from outside goes in as a query parameter. */
function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\t', '\\t')}'`;
}

/**
 * The engine's side of the row rule: named expressions over `raw` (a line, see `rawSql`) and `row` (its number), to be put into a
 * WITH clause. `verdict` is 0 for a good row, otherwise the code of the reason. With a column of keys, `keys` and
 * `attribute_ids` (two constant arrays) must be in scope.
 *
 * Nearly all lines are good and have no quotes, so first all are taken for such (`plain`), and `is_good` says for which
 * that was right. Only for the others the engine goes on to the exact `line`, `fields` and checks: what stands in a
 * branch of `if` and nowhere else it computes for the rows that need it. That choosing costs more than many a function, so
 * `is_good` is made with bitAnd, which does not choose.
 */
export function judgedLineSql(layout: RowLayout, maxLineBytes: number): string {
  const rule = rowRule(layout, maxLineBytes);
  const verdicts = rule.flatMap(({ reason, when }) => [conditionSql(when, layout), String(verdictOf(reason))]);
  const hasKeys = layout.columns.includes('keys');
  return [
    `trimRight(raw, '\\r') AS trimmed`,
    `splitByChar(${literal(layout.delimiter)}, trimmed) AS plain`,
    `toUUIDOrZero(${columnSql('id', layout, 'plain')}) AS plain_device`,
    ...(hasKeys ? [`${attributeIdsSql(layout, 'plain')} AS plain_attribute_ids`] : []),
    `${allOf([...isPlain, ...rule.flatMap(({ when }) => surelyNotSql(when, layout))])} AS is_good`,
    `row = 1 AND startsWith(raw, '\\xEF\\xBB\\xBF') AS is_marked`,
    `substring(raw, 1 + 3 * is_marked, length(raw) - 3 * is_marked - endsWith(raw, '\\r')) AS line`,
    `${fieldsSql(layout)} AS fields`,
    ...(hasKeys ? [`if(is_good, plain_attribute_ids, ${attributeIdsSql(layout, 'fields')}) AS row_attribute_ids`] : []),
    `if(is_good, plain_device, toUUIDOrZero(${columnSql('id', layout, 'fields')})) AS device`,
    `if(is_good, 0, multiIf(${verdicts.join(', ')}, 0)) AS verdict`,
    `toUInt8OrZero(${eitherSql('id_type', layout)}) AS id_type`,
    `upper(${eitherSql('country', layout)}) AS country`,
    `${eitherSql('operation', layout)} = '${operation.delete}' AS is_delete`,
    `${eitherSql('event', layout)} AS event`,
  ].join(',\n  ');
}

/** Without quotes, and without more than one carriage return at its end. A byte-order mark makes the id a bad one. */
const isPlain: readonly string[] = [`position(trimmed, '"') = 0`, 'length(raw) - length(trimmed) <= 1'];

function allOf(tests: readonly string[]): string {
  return tests.reduce((all, test) => `bitAnd(${all}, ${test})`);
}

function attributeIdsSql(layout: RowLayout, from: Split): string {
  const keys = `splitByChar(${literal(keySeparator)}, ${columnSql('keys', layout, from)})`;
  return `arrayDistinct(arrayMap(key -> transform(key, keys, attribute_ids, toUInt64(0)), ${keys}))`;
}

/**
 * Of a line that is too long only so much is judged that it still is: with all of it, a line of 60 MB of delimiters takes
 * a gigabyte. Beside its own bytes a line may have a byte-order mark and a carriage return.
 */
export function rawSql(maxLineBytes: number): string {
  return `substring(bytes, 1, ${maxLineBytes + 5})`;
}

/**
 * Which lines are rows at all: neither blank nor the header, whose number must be in scope (0 for none). A mark and a
 * carriage return are four bytes; what is longer is not blank.
 */
export const isDataRowSql = `(length(raw) > 4 OR line != '') AND row != header_row`;

/** A line without quotes is split, which is cheap; only a line with quotes pays for the patterns. */
function fieldsSql(layout: RowLayout): string {
  const delimiter = literal(layout.delimiter);
  const patterns = quotedFieldPatterns(layout.delimiter);
  const unquote = `f -> if(startsWith(f, '"'), replaceAll(substring(f, 2, length(f) - 2), '""', '"'), f)`;
  const quoted = `arrayMap(${unquote}, extractAll(concat(${delimiter}, line), ${literal(patterns.field)}))`;
  return `multiIf(position(line, '"') = 0, splitByChar(${delimiter}, line), match(line, ${literal(patterns.line)}), ${quoted}, [])`;
}

/** A line taken apart: as if it had no quotes, or exactly. */
type Split = 'plain' | 'fields';

function columnSql(column: ColumnName, layout: RowLayout, from: Split): string {
  const index = layout.columns.indexOf(column);
  return index < 0 ? `''` : `${from}[${index + 1}]`;
}

function eitherSql(column: ColumnName, layout: RowLayout): string {
  if (!layout.columns.includes(column)) return `''`;
  return `if(is_good, ${columnSql(column, layout, 'plain')}, ${columnSql(column, layout, 'fields')})`;
}

const zeroDevice = `toUUID('00000000-0000-0000-0000-000000000000')`;

/**
 * Cheap tests on a plain line that a condition does not apply. An id is good if the engine would write it in the same way:
 * engines before 26.6 make a UUID of nearly everything.
 */
function surelyNotSql(condition: Condition, layout: RowLayout): string[] {
  switch (condition.is) {
    case 'empty':
    case 'zero_id':
    case 'hashed_id':
      return [];
    case 'invalid_id':
      return [`lower(${columnSql('id', layout, 'plain')}) = toString(plain_device)`, `plain_device != ${zeroDevice}`];
    case 'line_longer_than':
      return [`length(trimmed) <= ${condition.bytes}`];
    case 'line_not_utf8':
      // A good id has no other characters than it may have, and the delimiter is one byte.
      return layout.columns
        .filter((column) => column !== 'id')
        .map((column) => `isValidUTF8(${columnSql(column, layout, 'plain')})`);
    case 'column_count_not':
      return [`length(plain) = ${condition.count}`];
    case 'longer_than':
      return [`length(${columnSql(condition.column, layout, 'plain')}) <= ${condition.characters}`];
    case 'not_one_of':
      return [`${columnSql(condition.column, layout, 'plain')} IN (${condition.values.map(literal).join(', ')})`];
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
      return `match(${columnSql('id', layout, 'fields')}, ${literal(zeroIdPattern)})`;
    case 'hashed_id':
      return `match(${columnSql('id', layout, 'fields')}, ${literal(hashedIdPattern)})`;
    case 'invalid_id':
      return `NOT match(${columnSql('id', layout, 'fields')}, ${literal(advertisingIdPattern)})`;
    case 'not_one_of':
      return `${columnSql(condition.column, layout, 'fields')} NOT IN (${condition.values.map(literal).join(', ')})`;
    case 'longer_than':
      return `lengthUTF8(${columnSql(condition.column, layout, 'fields')}) > ${condition.characters}`;
    case 'unknown_key':
      return `has(${attributeIdsSql(layout, 'fields')}, 0)`;
  }
}
