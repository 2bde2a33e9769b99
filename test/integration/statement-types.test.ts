import type { InsertType, SelectType } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tables } from '../../src/adapters/postgres/db/tables.ts';
import { audienceColumns } from './audience-columns.ts';
import { dropColumns } from './drop-columns.ts';
import { erasureColumns } from './erasure-columns.ts';
import { subscriptionColumns } from './subscription-columns.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';

// The compiler checks this list against the statement types, and the test checks it against the migrated schema. If a
// column is added, removed, or changed on one side only, one of the two checks fails.

/** A column's type, followed by `?` if the column can be null, or by `=` if an insert can omit it. */
type Spec<Column> =
  unknown extends SelectType<Column> ? 'json' : `${Kind<NonNullable<SelectType<Column>>>}${Suffix<Column>}`;

type Kind<Value> = Value extends number
  ? 'number'
  : Value extends string
    ? 'string'
    : Value extends boolean
      ? 'boolean'
      : Value extends Date
        ? 'date'
        : Value extends Uint8Array
          ? 'bytes'
          : 'list';

type Suffix<Column> =
  null extends SelectType<Column>
    ? '?'
    : [InsertType<Column>] extends [never]
      ? '='
      : undefined extends InsertType<Column>
        ? '='
        : '';

type Specs = {
  readonly [Table in keyof Tables]: { readonly [Name in keyof Tables[Table]]: Spec<Tables[Table][Name]> };
};

const statementTypes: Specs = {
  partner: {
    id: 'number=',
    name: 'string',
    prefix: 'string',
    next_seq: 'number=',
    audience_bad_row_share: 'number=',
    unhyphenated_ids: 'boolean=',
    device_days: 'number?',
    external_id: 'string=',
    suspended_at: 'date?',
    purge_after: 'date=',
    created_at: 'date=',
  },
  partner_removal: {
    partner_id: 'number',
    name: 'string',
    prefix: 'string',
    has_storage_user: 'boolean',
    step: 'string=',
    requested_by: 'string',
    requested_at: 'date=',
    removed: 'list=',
    remaining: 'list=',
    removed_at: 'date?',
    finished_at: 'date?',
    proof: 'list?',
  },
  api_key: {
    id: 'number=',
    partner_id: 'number',
    key_hash: 'bytes',
    name: 'string=',
    scopes: 'list?',
    created_at: 'date=',
    last_used_at: 'date?',
    expires_at: 'date?',
    revoked_at: 'date?',
    created_by: 'string?',
  },
  storage_key: {
    id: 'number=',
    partner_id: 'number',
    access_key_id: 'string',
    created_at: 'date=',
    created_by: 'string?',
    expires_at: 'date?',
  },
  audit_log: {
    id: 'number=',
    at: 'date=',
    event: 'string',
    actor: 'string',
    database_user: 'string=',
    partner_id: 'number?',
    key_id: 'number?',
    subject_id: 'number?',
    operation: 'string?',
    code: 'string?',
    request_id: 'string?',
    calls: 'number',
    detail: 'json',
  },
  attribute: { id: 'number=', partner_id: 'number', name: 'string', created_at: 'date=', retired_at: 'date?' },
  attribute_foreign_key: { partner_id: 'number', foreign_key: 'string', attribute_id: 'number' },
  job: {
    id: 'number=',
    partner_id: 'number',
    seq: 'number',
    kind: 'string',
    status: 'number=',
    cancelled: 'boolean=',
    cancel_requested_at: 'date?',
    cancel_requested_by: 'string?',
    canceled_by: 'string?',
    failure_code: 'string?',
    failure_detail: 'string?',
    created_at: 'date=',
    updated_at: 'date=',
    listed_at: 'date?',
    finished_at: 'date?',
    cleaned_at: 'date?',
  },
  import_log: {
    job_id: 'number',
    partner_id: 'number',
    log_type: 'number',
    file_path: 'string',
    path_type: 'number',
    key_type: 'number',
    compressed: 'boolean?',
    mode: 'string=',
    keys: 'list?',
    attribute_ids: 'list?',
    bytes_total: 'number=',
    total_rows: 'number=',
    suppressed: 'number=',
    unique_devices: 'number=',
    errors: 'list?',
    retry_of: 'number?',
    only_failed: 'boolean=',
    subscription_id: 'number?',
    requested_by: 'string?',
  },
  reject_export: {
    id: 'number=',
    partner_id: 'number',
    job_id: 'number',
    job_file_id: 'number?',
    folder: 'string',
    status: 'number=',
    attempt: 'number=',
    earlier_attempts: 'number=',
    claimed_until: 'date?',
    requested_at: 'date=',
    started_at: 'date?',
    finished_at: 'date?',
    expires_at: 'date?',
    failure_code: 'string?',
    failure_detail: 'string?',
  },
  reject_file: {
    export_id: 'number',
    job_file_id: 'number',
    partner_id: 'number',
    status: 'number=',
    bytes_read: 'number=',
    rows: 'number=',
    object_key: 'string?',
    object_bytes: 'number=',
    failure_code: 'string?',
    failure_detail: 'string?',
  },
  job_credential: { job_id: 'number', key_id: 'string', sealed: 'bytes' },
  job_file: {
    id: 'number=',
    job_id: 'number',
    partner_id: 'number',
    key: 'string',
    path: 'string',
    etag: 'string',
    size: 'number',
    gzip: 'boolean?',
    batch_id: 'number',
    status: 'number=',
    attempt: 'number=',
    load_id: 'number?',
    staged: 'boolean=',
    total_rows: 'number=',
    accepted_rows: 'number=',
    bytes_read: 'number=',
    rows_read: 'number=',
    publish_attempts: 'number=',
    audience_id: 'number?',
    generation: 'number?',
    uploaded_devices: 'number=',
    suppressed_rows: 'number=',
    shown_suppressed: 'number=',
    superseded: 'boolean=',
    reloads: 'number=',
    dismissed_at: 'date?',
    dismissed_by: 'string?',
    last_modified: 'date?',
    failure_code: 'string?',
    failure_detail: 'string?',
    updated_at: 'date=',
  },
  load_account: {
    load_id: 'number',
    partner_id: 'number',
    job_id: 'number',
    staged_rows: 'list',
    published_at: 'date?',
    suppression_version: 'number=',
  },
  repair_load: { load_id: 'number', partner_id: 'number', job_id: 'number', started_at: 'date=' },
  backup: {
    id: 'number=',
    started_at: 'date',
    finished_at: 'date=',
    taken_at: 'date?',
    bytes: 'number?',
    destination: 'string',
    failure: 'string?',
  },
  source_bucket: { identity: 'string', recorded_at: 'date=' },
  ...dropColumns,
  ...erasureColumns,
  customer: { id: 'number=', partner_id: 'number', name: 'string', created_at: 'date=' },
  user_token: {
    id: 'number=',
    partner_id: 'number',
    customer_id: 'number',
    token_hash: 'bytes',
    created_at: 'date=',
    revoked_at: 'date?',
    created_by: 'string?',
  },
  ...audienceColumns,
  composition: {
    audience_id: 'number',
    split: 'string',
    generation: 'number',
    last_load_id: 'number',
    report: 'json',
    computed_at: 'date=',
    published: 'json',
    published_with: 'string?',
    cells: 'json',
  },
  index_change: {
    id: 'number=',
    partner_id: 'number',
    audience_id: 'number=',
    from_version: 'number=',
    attribute_ids: 'list=',
    since: 'date=',
    retry_at: 'date=',
  },
  index_fold: { partner_id: 'number', fold_id: 'number', folded_at: 'date=' },
  index_audience: {
    audience_id: 'number',
    partner_id: 'number',
    generation: 'number',
    load_id: 'number',
    fold_id: 'number',
    devices: 'number',
    folded_at: 'date=',
  },
  index_shard: { number: 'number', known_table: 'string', known_blocks: 'json' },
  event: {
    id: 'string?',
    partner_id: 'number',
    sequence: 'number',
    customer_id: 'number?',
    type: 'string',
    data: 'json',
    created_at: 'date=',
  },
  event_counter: { partner_id: 'number', last_sequence: 'number' },
  ...subscriptionColumns,
  webhook: {
    id: 'number=',
    partner_id: 'number',
    url: 'string',
    description: 'string=',
    event_types: 'list?',
    created_at: 'date=',
    updated_at: 'date=',
    rotated_at: 'date?',
    deleted_at: 'date?',
  },
  webhook_secret: {
    id: 'number=',
    webhook_id: 'number',
    partner_id: 'number',
    key_id: 'string',
    sealed: 'bytes',
    created_at: 'date=',
  },
  webhook_state: {
    webhook_id: 'number',
    partner_id: 'number',
    position: 'number',
    replay_position: 'number=',
    replay_until: 'number=',
    claim: 'number=',
    claimed_at: 'date=',
    claimed_until: 'date?',
    paused_until: 'date?',
    failures_in_a_row: 'number=',
    failing_since: 'date?',
    last_failure_at: 'date?',
    warned_at: 'date?',
    disabled_at: 'date?',
    disabled_reason: 'string?',
  },
  webhook_delivery: {
    webhook_id: 'number',
    sequence: 'number',
    partner_id: 'number',
    event_type: 'string',
    attempts: 'json',
    tries: 'number=',
    is_replay: 'boolean=',
    next_attempt_at: 'date?',
    delivered_at: 'date?',
    created_at: 'date=',
    updated_at: 'date=',
  },
  overlap: { partner_id: 'number', key: 'string', published: 'json', computed_at: 'date=' },
  report_budget: { partner_id: 'number', day: 'date', computed: 'number' },
  report_draw: {
    id: 'number=',
    partner_id: 'number',
    customer_id: 'number',
    kind: 'string',
    draws: 'number',
    drawn_at: 'date=',
  },
  report_request: {
    audience_id: 'number',
    split: 'string',
    settings: 'string',
    state: 'string',
    partner_id: 'number',
    requested_at: 'date=',
    retry_at: 'date=',
  },
  console_session: {
    id: 'number=',
    token_hash: 'bytes',
    role: 'string',
    subject: 'string',
    name: 'string',
    partner_id: 'number?',
    customer_id: 'number?',
    api_key_id: 'number?',
    user_token_id: 'number?',
    segment_id: 'number?',
    audience_id: 'number?',
    created_at: 'date=',
    expires_at: 'date',
    idle_expires_at: 'date',
  },
  console_link: {
    id: 'number=',
    token_hash: 'bytes',
    partner_id: 'number',
    customer_id: 'number?',
    api_key_id: 'number',
    user_token_id: 'number?',
    segment_id: 'number',
    audience_id: 'number',
    created_at: 'date=',
    expires_at: 'date',
    used_at: 'date?',
  },
  upload: {
    id: 'number=',
    partner_id: 'number',
    customer_id: 'number?',
    object_key: 'string',
    storage_id: 'string',
    expires_at: 'date',
    ended_at: 'date?',
  },
  shard: { number: 'number', identity: 'string', weight: 'number', recorded_at: 'date=' },
  suppression: {
    only_row: 'boolean=',
    version: 'number=',
    last_version: 'number=',
    hashes: 'number=',
    content: 'string=',
    stand_in_key: 'string=',
    changed_at: 'date=',
  },
  sweep: { name: 'string', ran_at: 'date', next_at: 'date?' },
  job_file_reject: { job_file_id: 'number', reason: 'string', rows: 'number', first_row: 'number' },
  partner_usage: {
    partner_id: 'number',
    stored_rows: 'number=',
    stored_bytes: 'number=',
    storage_measured_at: 'date?',
    idempotency_keys: 'number=',
    keys_measured_at: 'date?',
  },
  request_window: { partner_id: 'number', key_id: 'number', number: 'number', taken: 'number' },
  accepted_request: {
    partner_id: 'number',
    key_hash: 'bytes',
    fingerprint: 'bytes',
    result: 'json',
    accepted_at: 'date=',
  },
};

/** The type of the value that `pg` returns for each column type. For bigint, see `db/connect.ts`. */
const kinds: Readonly<Record<string, string>> = {
  bigint: 'number',
  integer: 'number',
  smallint: 'number',
  'double precision': 'number',
  text: 'string',
  uuid: 'string',
  boolean: 'boolean',
  'timestamp with time zone': 'date',
  bytea: 'bytes',
  ARRAY: 'list',
};

type ColumnRow = { name: string; type: string; is_nullable: boolean; has_default: boolean };

const selectColumns = `
  SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS is_nullable,
    column_default IS NOT NULL OR is_identity = 'YES' OR is_generated = 'ALWAYS' AS has_default
  FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1`;

/**
 * Returns the specs that match a column. jsonb can contain any type, and a column with a default can still be required.
 */
function allowedSpecs({ type, is_nullable, has_default }: ColumnRow): string[] {
  const suffixes = is_nullable ? ['?'] : has_default ? ['=', ''] : [''];
  const known = type === 'jsonb' ? ['list'] : [kinds[type] ?? `unmapped ${type}`];
  return [...(type === 'jsonb' ? ['json'] : []), ...known.flatMap((kind) => suffixes.map((suffix) => kind + suffix))];
}

describe('the statement type', () => {
  let stores: TestStores;
  beforeAll(async () => {
    stores = await createPostgresStores();
  });
  afterAll(() => stores.drop());

  it.each(Object.entries(statementTypes))('matches the migrated table %s', async (table, columns) => {
    const { rows } = await withDatabase(stores, (client) => client.query<ColumnRow>(selectColumns, [table]));
    expect(Object.keys(columns).toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
    const specs = new Map<string, string>(Object.entries(columns));
    for (const row of rows) expect(allowedSpecs(row), row.name).toContain(specs.get(row.name));
  });
});
