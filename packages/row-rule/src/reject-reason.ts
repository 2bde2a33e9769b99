import type { ColumnName } from './row-layout.ts';

/** Why a row is refused. The order is the order of judgement: the first reason that applies is given. */
export const rejectReasons = {
  line_too_long: 'The line is longer than a line may be.',
  invalid_utf8: 'The line is not valid UTF-8.',
  wrong_column_count: 'The row does not have the number of columns of its layout, or its quotes are broken.',
  empty_id: 'The advertising id is empty.',
  zero_id: 'The advertising id is all zeros: the device has limited tracking.',
  hashed_id: 'The advertising id looks hashed (32, 40 or 64 hexadecimal digits); plain ids are needed.',
  invalid_id: 'The advertising id is not of the form 8-4-4-4-12 hexadecimal digits.',
  invalid_id_type: 'The id type is neither 1 (IDFA) nor 3 (AAID).',
  invalid_country: 'The country is neither empty nor a code of ISO 3166-1 alpha-2.',
  invalid_operation: 'The operation is neither 0 (add) nor 1 (delete).',
  unknown_key: 'A key of the row is not an attribute of this partner.',
  event_too_long: 'The event is longer than 256 characters.',
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
  unknown_key: 'keys',
  event_too_long: 'event',
};

/** The column that a reason is about; null when it is about the line as a whole. */
export function columnOfReason(reason: RejectReason): ColumnName | null {
  return columnByReason[reason] ?? null;
}
