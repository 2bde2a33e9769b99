import type { RejectReason } from './reject-reason.ts';
import type { ColumnName, RowLayout } from './row-layout.ts';
import { countryValues, idTypeValues, operationValues } from './row-values.ts';

/**
 * The rule for a row is data, so that it is written once: `judge-line.ts` interprets it in TypeScript and
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
