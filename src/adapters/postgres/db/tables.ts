import type { BatchId, JobId, LoadId, PartnerId } from '../../../domain/ids.ts';
import type { ColumnType, Generated, Kysely, Transaction } from 'kysely';
import type { SubscriptionObjectTable, SubscriptionStateTable, SubscriptionTable } from './subscription-tables.ts';
import type { ImportLogError } from '../../../domain/import-log.ts';
import type { DropTables } from './drop-tables.ts';
import type { PartnerRemovalTable } from './removal-tables.ts';
import type { ErasureBatchTable, ErasureTable } from './erasure-tables.ts';
import type { SuppressionTable } from './suppression-tables.ts';
import type { JobFileRejectTable, RejectExportTable, RejectFileTable } from './reject-tables.ts';

// The migrated schema, as a type for Kysely. test/integration/statement-types.test.ts compares this type with the
// database. bigint is parsed as a number: see `connect.ts`.
type Timestamp = ColumnType<Date, Date | undefined, Date>;

type PartnerTable = {
  id: Generated<PartnerId>;
  name: string;
  prefix: string;
  next_seq: Generated<number>;
  audience_bad_row_share: Generated<number>;
  unhyphenated_ids: Generated<boolean>;
  device_days: number | null;
  external_id: Generated<string>;
  suspended_at: Date | null;
  purge_after: Timestamp;
  created_at: Timestamp;
};

type DeviceRetentionTable = {
  partner_id: PartnerId;
  forgotten_seq: Generated<number>;
  unseen_seq: Generated<number>;
  is_removing: Generated<boolean>;
  rows: Generated<number>;
  attribute_ids: Generated<number[]>;
  due_at: Timestamp;
  failure: string | null;
  removed_rows: Generated<number>;
  removed_at: Date | null;
};

type ApiKeyTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  key_hash: Uint8Array;
  name: Generated<string>;
  scopes: ColumnType<readonly string[] | null, string[] | null | undefined, never>;
  created_at: Timestamp;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  created_by: ColumnType<string | null, string | null | undefined, never>;
};

type StorageKeyTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  access_key_id: string;
  created_at: Timestamp;
  created_by: string | null;
  expires_at: Date | null;
};

type AuditLogTable = {
  id: Generated<number>;
  at: ColumnType<Date, Date | undefined, never>;
  event: ColumnType<string, string, never>;
  actor: ColumnType<string, string, never>;
  database_user: ColumnType<string, never, never>;
  partner_id: ColumnType<PartnerId | null, number | null, never>;
  key_id: ColumnType<number | null, number | null, never>;
  subject_id: ColumnType<number | null, never, never>;
  operation: ColumnType<string | null, string, never>;
  code: ColumnType<string | null, string, never>;
  request_id: ColumnType<string | null, string | null, never>;
  calls: ColumnType<number, number, never>;
  detail: ColumnType<unknown, never, never>;
};

type AttributeTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  name: string;
  created_at: Timestamp;
  retired_at: Date | null;
};

type AttributeForeignKeyTable = { partner_id: PartnerId; foreign_key: string; attribute_id: number };

type JobTable = {
  id: Generated<JobId>;
  partner_id: PartnerId;
  seq: number;
  kind: string;
  status: Generated<number>;
  cancelled: Generated<boolean>;
  cancel_requested_at: Date | null;
  cancel_requested_by: string | null;
  canceled_by: string | null;
  failure_code: string | null;
  failure_detail: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  listed_at: Date | null;
  finished_at: Date | null;
  cleaned_at: Date | null;
};

type ImportLogTable = {
  job_id: JobId;
  partner_id: PartnerId;
  log_type: number;
  file_path: string;
  path_type: number;
  key_type: number;
  compressed: boolean | null;
  mode: Generated<string>;
  keys: ColumnType<readonly string[] | null, string | null, string | null>;
  attribute_ids: ColumnType<readonly number[] | null, string | null | undefined, string | null>;
  bytes_total: Generated<number>;
  total_rows: Generated<number>;
  suppressed: Generated<number>;
  unique_devices: Generated<number>;
  errors: ColumnType<readonly ImportLogError[] | null, string | null, string | null>;
  retry_of: number | null;
  only_failed: Generated<boolean>;
  subscription_id: number | null;
  requested_by: Generated<string | null>;
};

type JobFileTable = {
  id: Generated<number>;
  job_id: JobId;
  partner_id: PartnerId;
  key: string;
  path: string;
  etag: string;
  size: number;
  gzip: boolean | null;
  batch_id: BatchId;
  status: Generated<number>;
  attempt: Generated<number>;
  load_id: LoadId | null;
  staged: Generated<boolean>;
  total_rows: Generated<number>;
  accepted_rows: Generated<number>;
  bytes_read: Generated<number>;
  rows_read: Generated<number>;
  publish_attempts: Generated<number>;
  audience_id: number | null;
  generation: number | null;
  uploaded_devices: Generated<number>;
  suppressed_rows: Generated<number>;
  shown_suppressed: Generated<number>;
  superseded: Generated<boolean>;
  reloads: Generated<number>;
  dismissed_at: Date | null;
  dismissed_by: string | null;
  last_modified: Date | null;
  failure_code: string | null;
  failure_detail: string | null;
  updated_at: Timestamp;
};

type LoadAccountTable = {
  load_id: LoadId;
  partner_id: PartnerId;
  job_id: JobId;
  staged_rows: ColumnType<readonly number[], string, never>;
  published_at: Date | null;
  suppression_version: Generated<number>;
};

type CustomerTable = { id: Generated<number>; partner_id: PartnerId; name: string; created_at: Timestamp };

type UserTokenTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  customer_id: number;
  token_hash: Uint8Array;
  created_at: Timestamp;
  revoked_at: Date | null;
  created_by: ColumnType<string | null, string | null | undefined, never>;
};

type AudienceTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  customer_id: number | null;
  name: string;
  warehouse_segment_id: Generated<number>;
  generation: Generated<number>;
  uploaded_devices: Generated<number>;
  unique_devices: Generated<number>;
  matched_devices: Generated<number>;
  matched_version: Generated<number>;
  matched_at: Date | null;
  last_load_id: number | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  deleted_at: Date | null;
};

type AudienceLoadTable = {
  job_id: JobId;
  partner_id: PartnerId;
  audience_id: number;
  generation: number;
  file_path: string;
  superseded: Generated<boolean>;
  dismissed_at: Date | null;
  dismissed_by: string | null;
  literal_path: string | null;
  retry_of: JobId | null;
  only_failed: Generated<boolean>;
  requested_by: string | null;
};

type DeadGenerationTable = {
  audience_id: number;
  generation: number;
  partner_id: PartnerId;
  dead_at: Timestamp;
  check_at: Timestamp;
  purging_until: Date | null;
  purged_rows: Generated<number>;
  purged_at: Date | null;
  requested_by: string | null;
};

type CompositionTable = {
  audience_id: number;
  split: string;
  generation: number;
  last_load_id: number;
  report: ColumnType<unknown, string, string>;
  computed_at: Timestamp;
  published: ColumnType<unknown, string | undefined, string>;
  published_with: string | null;
  cells: ColumnType<unknown, string | undefined, string>;
};

type JobCredentialTable = { job_id: JobId; key_id: string; sealed: Uint8Array };

type AcceptedRequestTable = {
  partner_id: PartnerId;
  key_hash: Uint8Array;
  fingerprint: Uint8Array;
  result: ColumnType<unknown, string, string>;
  accepted_at: Timestamp;
};

type RequestWindowTable = { partner_id: PartnerId; key_id: number; number: number; taken: number };

type PartnerUsageTable = {
  partner_id: PartnerId;
  stored_rows: Generated<number>;
  stored_bytes: Generated<number>;
  storage_measured_at: Date | null;
  idempotency_keys: Generated<number>;
  keys_measured_at: Date | null;
};

type IndexChangeTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  audience_id: Generated<number>;
  from_version: Generated<number>;
  attribute_ids: Generated<number[]>;
  since: Timestamp;
  retry_at: Timestamp;
};

type ReportDrawTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  customer_id: number;
  kind: string;
  draws: number;
  drawn_at: Timestamp;
};

type ReportRequestTable = {
  audience_id: number;
  split: string;
  settings: string;
  state: string;
  partner_id: PartnerId;
  requested_at: Timestamp;
  retry_at: Timestamp;
};

type IndexAudienceTable = {
  audience_id: number;
  partner_id: PartnerId;
  generation: number;
  load_id: LoadId;
  fold_id: number;
  devices: number;
  folded_at: Timestamp;
};

type IndexShardTable = {
  number: number;
  known_table: string;
  known_blocks: ColumnType<unknown, string, string>;
};

type EventTable = {
  id: Generated<string | null>;
  partner_id: PartnerId;
  sequence: number;
  customer_id: number | null;
  type: string;
  data: ColumnType<unknown, string, never>;
  created_at: Timestamp;
};

type WebhookTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  url: string;
  description: Generated<string>;
  event_types: ColumnType<readonly string[] | null, string[] | null, string[] | null>;
  created_at: Timestamp;
  updated_at: Timestamp;
  rotated_at: Date | null;
  deleted_at: Date | null;
};

type WebhookSecretTable = {
  id: Generated<number>;
  webhook_id: number;
  partner_id: PartnerId;
  key_id: string;
  sealed: Uint8Array;
  created_at: Timestamp;
};

type WebhookStateTable = {
  webhook_id: number;
  partner_id: PartnerId;
  position: number;
  replay_position: Generated<number>;
  replay_until: Generated<number>;
  claim: Generated<number>;
  claimed_at: Timestamp;
  claimed_until: Date | null;
  paused_until: Date | null;
  failures_in_a_row: Generated<number>;
  failing_since: Date | null;
  last_failure_at: Date | null;
  warned_at: Date | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
};

type WebhookDeliveryTable = {
  webhook_id: number;
  sequence: number;
  partner_id: PartnerId;
  event_type: string;
  attempts: ColumnType<unknown, string | undefined, string>;
  tries: Generated<number>;
  is_replay: Generated<boolean>;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
  created_at: Timestamp;
  updated_at: Timestamp;
};

type ConsoleSessionTable = {
  id: Generated<number>;
  token_hash: Uint8Array;
  role: string;
  subject: string;
  name: string;
  partner_id: PartnerId | null;
  customer_id: number | null;
  api_key_id: number | null;
  user_token_id: number | null;
  segment_id: number | null;
  audience_id: number | null;
  created_at: Timestamp;
  expires_at: Date;
  idle_expires_at: Date;
};

type ConsoleLinkTable = {
  id: Generated<number>;
  token_hash: Uint8Array;
  partner_id: PartnerId;
  customer_id: number | null;
  api_key_id: number;
  user_token_id: number | null;
  segment_id: number;
  audience_id: number;
  created_at: Timestamp;
  expires_at: Date;
  used_at: Date | null;
};

type UploadTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  customer_id: number | null;
  object_key: string;
  storage_id: string;
  expires_at: Date;
  ended_at: Date | null;
};

type BackupTable = {
  id: Generated<number>;
  started_at: Date;
  finished_at: Timestamp;
  taken_at: Date | null;
  bytes: number | null;
  destination: string;
  failure: string | null;
};

export type Tables = {
  partner: PartnerTable;
  partner_removal: PartnerRemovalTable;
  api_key: ApiKeyTable;
  storage_key: StorageKeyTable;
  audit_log: AuditLogTable;
  attribute: AttributeTable;
  attribute_foreign_key: AttributeForeignKeyTable;
  job: JobTable;
  import_log: ImportLogTable;
  job_credential: JobCredentialTable;
  job_file: JobFileTable;
  load_account: LoadAccountTable;
  suppression: SuppressionTable;
  customer: CustomerTable;
  user_token: UserTokenTable;
  audience: AudienceTable;
  audience_load: AudienceLoadTable;
  dead_generation: DeadGenerationTable;
  composition: CompositionTable;
  console_link: ConsoleLinkTable;
  upload: UploadTable;
  console_session: ConsoleSessionTable;
  index_change: IndexChangeTable;
  index_fold: { partner_id: PartnerId; fold_id: number; folded_at: Timestamp };
  index_audience: IndexAudienceTable;
  index_shard: IndexShardTable;
  event: EventTable;
  event_counter: { partner_id: PartnerId; last_sequence: number };
  webhook: WebhookTable;
  webhook_secret: WebhookSecretTable;
  webhook_state: WebhookStateTable;
  webhook_delivery: WebhookDeliveryTable;
  subscription: SubscriptionTable;
  subscription_state: SubscriptionStateTable;
  subscription_object: SubscriptionObjectTable;
  overlap: {
    partner_id: PartnerId;
    key: string;
    published: ColumnType<unknown, string, never>;
    computed_at: Timestamp;
  };
  report_budget: { partner_id: PartnerId; day: Date; computed: number };
  report_draw: ReportDrawTable;
  report_request: ReportRequestTable;
  shard: { number: number; identity: string; weight: number; recorded_at: Timestamp };
  sweep: { name: string; ran_at: Date; next_at: Date | null };
  repair_load: { load_id: LoadId; partner_id: PartnerId; job_id: JobId; started_at: Timestamp };
  backup: BackupTable;
  erasure: ErasureTable;
  erasure_batch: ErasureBatchTable;
  device_retention: DeviceRetentionTable;
  erased_partner: { partner_id: PartnerId; erased_at: Date; rows: Generated<number> };
  source_bucket: { identity: string; recorded_at: Timestamp };
  job_file_reject: JobFileRejectTable;
  reject_export: RejectExportTable;
  reject_file: RejectFileTable;
  request_window: RequestWindowTable;
  partner_usage: PartnerUsageTable;
  accepted_request: AcceptedRequestTable;
} & DropTables;

export type Database = Kysely<Tables>;
export type Tx = Transaction<Tables>;
