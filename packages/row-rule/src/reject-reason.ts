import type { ColumnName } from './row-layout.ts';

/** Why a row is rejected, in the order of the checks. A row gets the first reason that applies. */
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
  unknown_key: 'The row has an unknown key. Check key_type if every row fails.',
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
  unknown_key: 'keys',
  event_too_long: 'event',
};

/** The column a reason refers to; null if it refers to the whole line. */
export function columnOfReason(reason: RejectReason): ColumnName | null {
  return columnByReason[reason] ?? null;
}
