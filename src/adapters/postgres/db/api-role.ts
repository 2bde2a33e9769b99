import { type Client, DatabaseError } from 'pg';
import { Secret } from '../../../domain/secret.ts';
import { laneQueue } from '../queue/tokens.ts';

/** PostgreSQL's keyword for no role. The API then has the privileges of the user in its URL. */
export const noRole = 'none';

/** Returns the URL with an option that starts each connection under the role. Keeps existing options. */
export function underRole(url: Secret, role: string): Secret {
  return withSetting(url, 'role', role);
}

/** Returns the URL with an option that makes every transaction read-only by default. Keeps existing options. */
export function readOnly(url: Secret): Secret {
  return withSetting(url, 'default_transaction_read_only', 'on');
}

function withSetting(url: Secret, name: string, value: string): Secret {
  const address = new URL(url.reveal());
  const options = [address.searchParams.get('options') ?? '', `-c ${name}=${value}`];
  address.searchParams.set('options', options.join(' ').trim());
  return new Secret(address.href);
}

/**
 * Creates the role if it is missing, and grants the privileges that this release needs. Revokes no privilege, because
 * the previous release may still be running. Returns false if this user can neither assume nor create the role.
 */
export async function prepareApiRole(client: Client, role: string): Promise<boolean> {
  if (role === noRole) return true;
  if (!(await canTakeOn(client, role)) && !(await makeRole(client, role))) return false;
  await client.query('BEGIN');
  try {
    for (const statement of [...grantsOf(role), ...(await queueGrantsOf(client, role))]) await client.query(statement);
    await client.query('COMMIT');
    return true;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

function grantsOf(role: string): string[] {
  const tables = Object.entries(apiTables).map(([table, rights]) => `GRANT ${rights} ON ${table} TO ${role}`);
  const functions = apiFunctions.flatMap((name) => [
    `REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC`,
    `GRANT EXECUTE ON FUNCTION ${name} TO ${role}`,
  ]);
  const sequences = apiSequences.map((name) => `GRANT USAGE ON SEQUENCE ${name} TO ${role}`);
  return [`GRANT USAGE ON SCHEMA public TO ${role}`, ...tables, ...functions, ...sequences];
}

/**
 * Returns the grants for the queue. pg-boss may recreate its tables, so their names are read each time. The API sends
 * only lane tokens.
 */
async function queueGrantsOf(client: Client, role: string): Promise<string[]> {
  const { rows } = await client.query<{ table: string }>(
    `SELECT format('pgboss.%I', table_name) AS table FROM pgboss.queue WHERE name = $1`,
    [laneQueue],
  );
  return [
    `GRANT USAGE ON SCHEMA pgboss TO ${role}`,
    `GRANT SELECT ON pgboss.version, pgboss.queue TO ${role}`,
    // An insert returns these columns. The API role cannot read token payloads.
    ...rows.map(({ table }) => `GRANT INSERT, SELECT (id, start_after) ON ${table} TO ${role}`),
  ];
}

async function makeRole(client: Client, role: string): Promise<boolean> {
  // Roles are global to the server. Another installation may have created this role, or may be creating it now.
  for (const statement of [`CREATE ROLE ${role} NOLOGIN`, `GRANT ${role} TO CURRENT_USER`]) {
    try {
      await client.query(statement);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
    }
  }
  return canTakeOn(client, role);
}

async function canTakeOn(client: Client, role: string): Promise<boolean> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL ROLE ${role}`);
    return true;
  } catch (error) {
    if (error instanceof DatabaseError) return false;
    throw error;
  } finally {
    await client.query('ROLLBACK');
  }
}

/** Returns instructions for the operator if the role could not be created. */
export function roleRemedy(role: string): string {
  return `As a user that can create roles, run: CREATE ROLE ${role} NOLOGIN; GRANT ${role} TO <the user in INLET_POSTGRES_URL>; then run \`inlet migrate\`.`;
}

// These are all of the API role's privileges. `inlet migrate` grants them, and a statement that needs more fails with
// "permission denied". Policies decide which rows the role can access: see docs/decisions/row-level-security.md.

export const apiTables: Readonly<Record<string, string>> = {
  partner: 'SELECT, UPDATE (next_seq)',
  // Keys are found by hash through key_with_hash(), so the role cannot read hashes.
  api_key:
    'SELECT (id, partner_id, name, scopes, created_at, last_used_at, expires_at, revoked_at, created_by), INSERT (partner_id, key_hash, name, scopes, expires_at, created_by), UPDATE (expires_at, revoked_at)',
  attribute: 'SELECT, INSERT (partner_id, name), UPDATE (name, retired_at)',
  attribute_foreign_key: 'SELECT, INSERT, UPDATE (attribute_id)',
  job: 'SELECT, INSERT, UPDATE (status, cancelled, cancel_requested_at, cancel_requested_by, canceled_by, finished_at, updated_at, cleaned_at)',
  import_log: 'SELECT, INSERT',
  // Only workers decrypt the sealed credentials.
  job_credential: 'INSERT',
  job_file: 'SELECT, UPDATE (dismissed_at, dismissed_by, status, failure_code, failure_detail, updated_at)',
  job_file_reject: 'SELECT',
  customer: 'SELECT, INSERT (partner_id, name), UPDATE (name)',
  user_token: 'SELECT, INSERT (partner_id, customer_id, token_hash, created_by), UPDATE (revoked_at)',
  reject_export:
    'SELECT, INSERT, UPDATE (status, earlier_attempts, requested_at, started_at, finished_at, expires_at, failure_code, failure_detail)',
  reject_file: 'SELECT, UPDATE (status, bytes_read, failure_code, failure_detail)',
  audience:
    'SELECT, INSERT, UPDATE (name, deleted_at, generation, uploaded_devices, unique_devices, matched_devices, matched_at, last_load_id, updated_at)',
  audience_load: 'SELECT, INSERT, UPDATE (superseded, dismissed_at, dismissed_by)',
  dead_generation: 'SELECT, INSERT',
  accepted_request: 'SELECT, INSERT, UPDATE (fingerprint, result, accepted_at)',
  // Only workers decrypt the sealed IDs.
  erasure:
    'SELECT (id, partner_id, batch_id, status, requested_by, object_key, ids, invalid_lines, ids_salt, ids_digest, waiting_for, failure_code, failure_detail, proof, proof_csv, requested_at, finished_at), INSERT (partner_id, requested_by, object_key, key_id, sealed, ids, ids_salt, ids_digest)',
  storage_key: 'SELECT, INSERT (partner_id, access_key_id, created_by, expires_at), UPDATE (expires_at)',
  request_window: 'SELECT, INSERT, UPDATE (number, taken)',
  partner_usage: 'SELECT',
  // The API inserts rows for denied calls and never reads them.
  audit_log: 'INSERT',
  composition: 'SELECT',
  console_link: 'SELECT, INSERT',
  event: 'SELECT, INSERT',
  event_counter: 'SELECT, INSERT, UPDATE (last_sequence)',
  index_audience: 'SELECT',
  overlap: 'SELECT, INSERT',
  report_draw: 'SELECT, INSERT',
  upload: 'SELECT, INSERT, UPDATE (ended_at)',
  report_request: 'SELECT, INSERT, UPDATE (state, requested_at, retry_at)',
  webhook: 'SELECT, INSERT, UPDATE (url, description, event_types, updated_at, rotated_at, deleted_at)',
  // Only workers read the sealed secrets.
  webhook_secret: 'INSERT',
  webhook_state:
    'SELECT, INSERT, UPDATE (replay_position, replay_until, claim, claimed_until, paused_until, failures_in_a_row, failing_since, warned_at, disabled_at, disabled_reason)',
  webhook_delivery: 'SELECT, INSERT, UPDATE (tries, is_replay, next_attempt_at, updated_at)',
  subscription:
    'SELECT, INSERT, UPDATE (key_type, compressed, quiet_seconds, marker, every_seconds, daily_at, updated_at, paused_at, deleted_at)',
  subscription_state:
    'SELECT, INSERT, UPDATE (is_active, claim, claimed_until, next_listing_at, next_import_at, waits_for)',
  subscription_object: 'SELECT, UPDATE (state, job_id, error_code, updated_at)',
};

/** Every other table, with the reason why the API has no access. */
export const closedToApi: Readonly<Record<string, string>> = {
  backup: 'written by `inlet backup` and read by the operator API',
  console_session: 'sessions are found by hash, through find_console_session()',
  schema_migration: 'read and written by `inlet migrate` and `inlet doctor`',
  drop_cycle: 'used by `inlet privacy drop`',
  drop_fetch: 'used by `inlet privacy drop`; metrics are read through drop_waits()',
  drop_upload: 'used by `inlet privacy drop`',
  erasure_batch: 'used by workers and `inlet privacy`',
  device_retention: 'used by workers and `inlet partner`',
  erased_partner: 'written by workers and read by `inlet audit`',
  index_change: 'written by triggers and read by workers',
  index_fold: 'read through folds_of_all()',
  index_shard: 'used by workers only',
  load_account: 'written and read by workers',
  report_budget: 'used by the previous release only',
  repair_load: 'written by `inlet repair` and read by workers',
  partner_removal: 'written by `inlet partner remove`',
  shard: 'read through recorded_shards()',
  suppression: 'written by `inlet privacy suppress` and read by workers',
  source_bucket: 'read by workers and `inlet doctor`',
  sweep: 'used by workers only',
};

/** These functions run with the owner's privileges, so only this role can call them. */
export const apiFunctions = [
  'key_with_hash(bytea)',
  'partner_with_key(bytea)',
  'note_key_uses(bigint[])',
  'import_log_marks(bigint[])',
  'audience_marks(bigint[])',
  'attributes_of_all()',
  'folds_of_all()',
  'index_waits()',
  'names_of_attributes(bigint[])',
  'describe_attributes(bigint[])',
  'report_waits()',
  'webhook_waits()',
  'subscription_waits()',
  'erasure_waits()',
  'drop_waits()',
  'what_waits(text, text, text)',
  'recorded_shards()',
  'audiences_of(bigint)',
  'remove_records_of_deleted(bigint, bigint)',
  'last_load_id()',
  'find_console_session(bytea)',
  'open_console_session(bytea, text, text, text, bigint, bigint, bigint, bigint, bigint, bigint, double precision, double precision, integer)',
  'extend_console_session(bytea, double precision)',
  'end_console_session(bytea)',
  'redeem_console_link(bytea)',
  'console_subject(text, text)',
  'key_of_session(bigint)',
  'remove_customer(bigint)',
  'untie_foreign_keys(bigint, text[])',
  // Called by the previous release.
  'console_session_with_hash(bytea)',
  'open_console_session(bytea, text, text, text, bigint, bigint, bigint, bigint, bigint, double precision, double precision, integer)',
  'use_console_link(bytea)',
] as const;

const apiSequences = ['warehouse_segment_id'] as const;
