import type { ColumnName, RowLayout } from '../../domain/row-layout.ts';
import { keySeparator, type Condition, type RowCheck } from '../../domain/row-rule.ts';
import { operation } from '../../domain/row-values.ts';
import { quotedFieldPatterns } from '../../domain/split-line.ts';

/** Quotes text for SQL. Only for text of our own: what comes from outside goes in as a query parameter. */
function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\t', '\\t')}'`;
}

/**
 * The engine's side of the row rule: named expressions over `raw` (a line) and `row` (its number), to be put into a
 * WITH clause. `reason` is empty for a good row. With a column of keys, `keys` and `attribute_ids` (two constant
 * arrays) must be in scope.
 */
export function judgedLineSql(layout: RowLayout, rule: readonly RowCheck[]): string {
  const verdicts = rule.flatMap(({ reason, when }) => [conditionSql(when, layout), literal(reason)]);
  return [
    `if(row = 1 AND startsWith(raw, '\\xEF\\xBB\\xBF'), substring(raw, 4), raw) AS unmarked`,
    `if(endsWith(unmarked, '\\r'), substring(unmarked, 1, length(unmarked) - 1), unmarked) AS line`,
    `${fieldsSql(layout)} AS fields`,
    ...(layout.columns.includes('keys') ? [rowAttributesSql(layout)] : []),
    `multiIf(${verdicts.join(', ')}, '') AS reason`,
    `toUUIDOrZero(${columnSql('id', layout)}) AS device`,
    `toUInt8OrZero(${columnSql('id_type', layout)}) AS id_type`,
    `upper(${columnSql('country', layout)}) AS country`,
    `${columnSql('operation', layout)} = '${operation.delete}' AS is_delete`,
    `${columnSql('event', layout)} AS event`,
  ].join(',\n  ');
}

function rowAttributesSql(layout: RowLayout): string {
  const keys = `splitByChar(${literal(keySeparator)}, ${columnSql('keys', layout)})`;
  return `arrayDistinct(arrayMap(key -> transform(key, keys, attribute_ids, toUInt64(0)), ${keys})) AS row_attribute_ids`;
}

/** Which lines are rows at all: neither blank nor the header, whose number must be in scope (0 for none). */
export const isDataRowSql = `line != '' AND row != header_row`;

/** A line without quotes is split, which is cheap; only a line with quotes pays for the patterns. */
function fieldsSql(layout: RowLayout): string {
  const delimiter = literal(layout.delimiter);
  const patterns = quotedFieldPatterns(layout.delimiter);
  const unquote = `f -> if(startsWith(f, '"'), replaceAll(substring(f, 2, length(f) - 2), '""', '"'), f)`;
  const quoted = `arrayMap(${unquote}, extractAll(concat(${delimiter}, line), ${literal(patterns.field)}))`;
  return `multiIf(position(line, '"') = 0, splitByChar(${delimiter}, line), match(line, ${literal(patterns.line)}), ${quoted}, [])`;
}

function columnSql(column: ColumnName, layout: RowLayout): string {
  const index = layout.columns.indexOf(column);
  return index < 0 ? `''` : `fields[${index + 1}]`;
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
      return `${columnSql(condition.column, layout)} = ''`;
    case 'matching':
      return `match(${columnSql(condition.column, layout)}, ${literal(condition.pattern)})`;
    case 'not_matching':
      return `NOT match(${columnSql(condition.column, layout)}, ${literal(condition.pattern)})`;
    case 'not_one_of':
      return `${columnSql(condition.column, layout)} NOT IN (${condition.values.map(literal).join(', ')})`;
    case 'longer_than':
      return `lengthUTF8(${columnSql(condition.column, layout)}) > ${condition.characters}`;
    case 'unknown_key':
      return 'has(row_attribute_ids, 0)';
  }
}
