// What the role of the api may do, and no more: a statement that needs more fails with "permission denied". Granted by
// every `inlet migrate`. Which rows of these tables it gets is said by policies: docs/decisions/0040-row-security.md.

export const apiTables: Readonly<Record<string, string>> = {
  partner: 'SELECT, UPDATE (next_seq)',
  attribute: 'SELECT',
  attribute_foreign_key: 'SELECT',
  job: 'SELECT, INSERT, UPDATE (status, cancelled, finished_at, updated_at, cleaned_at)',
  import_log: 'SELECT, INSERT',
  // Sealed credentials are opened by workers only.
  job_credential: 'INSERT',
  job_file: 'SELECT',
  job_file_reject: 'SELECT',
  customer: 'SELECT',
  user_token: 'SELECT',
  audience:
    'SELECT, INSERT, UPDATE (generation, uploaded_devices, unique_devices, matched_devices, last_load_id, updated_at)',
  audience_load: 'SELECT, INSERT, UPDATE (superseded)',
  dead_generation: 'INSERT',
  accepted_request: 'SELECT, INSERT, UPDATE (fingerprint, result, accepted_at)',
  request_window: 'SELECT, INSERT, UPDATE (number, taken)',
  // Denied calls of whoever it was: added, never read.
  audit_log: 'INSERT',
  composition: 'SELECT, INSERT, UPDATE (generation, last_load_id, report, computed_at)',
};

/** Every other table, with the reason why the api has no business there. */
export const closedToApi: Readonly<Record<string, string>> = {
  api_key: 'a key is found by its hash, with key_with_hash()',
  schema_migration: 'read and written by `inlet migrate` and `inlet doctor`',
  sweep: 'of the workers',
};

/** With the rights of the owner: nobody else may call them. */
export const apiFunctions = [
  'key_with_hash(bytea)',
  'partner_with_key(bytea)',
  'note_key_uses(bigint[])',
  'import_log_marks(bigint[])',
  'audience_marks(bigint[])',
  'attributes_of_all()',
  'names_of_attributes(bigint[])',
  'what_waits(text, text, text)',
] as const;

export const apiSequences = ['warehouse_segment_id'] as const;
