import type { ColumnType, Generated } from 'kysely';
import type { ImportLogError } from '../../domain/import-log.ts';

// What the migrations make, for Kysely. PostgreSQL's bigint arrives as a number: see `connect.ts`.
type Timestamp = ColumnType<Date, Date | undefined, Date>;

type PartnerTable = {
  id: Generated<number>;
  name: string;
  prefix: string;
  next_seq: Generated<number>;
  created_at: Timestamp;
};

type ApiKeyTable = {
  id: Generated<number>;
  partner_id: number;
  key_hash: Uint8Array;
  created_at: Timestamp;
  revoked_at: Date | null;
};

type AttributeTable = {
  id: Generated<number>;
  partner_id: number;
  name: string;
  created_at: Timestamp;
  retired_at: Date | null;
};

type AttributeForeignKeyTable = { partner_id: number; foreign_key: string; attribute_id: number };

type JobTable = {
  id: Generated<number>;
  partner_id: number;
  seq: number;
  kind: string;
  status: Generated<number>;
  cancelled: Generated<boolean>;
  failure_code: string | null;
  failure_detail: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  listed_at: Date | null;
  finished_at: Date | null;
};

type ImportLogTable = {
  job_id: number;
  partner_id: number;
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
  unique_devices: Generated<number>;
  errors: ColumnType<readonly ImportLogError[] | null, string | null, string | null>;
};

type JobFileTable = {
  id: Generated<number>;
  job_id: number;
  partner_id: number;
  key: string;
  path: string;
  etag: string;
  size: number;
  gzip: boolean;
  status: Generated<number>;
  attempt: Generated<number>;
  load_id: number | null;
  staged: Generated<boolean>;
  total_rows: Generated<number>;
  accepted_rows: Generated<number>;
  bytes_read: Generated<number>;
  rows_read: Generated<number>;
  failure_code: string | null;
  failure_detail: string | null;
  updated_at: Timestamp;
};

type JobCredentialTable = { job_id: number; key_id: string; sealed: Uint8Array };

type JobFileRejectTable = { job_file_id: number; reason: string; rows: number; first_row: number };

export type Tables = {
  partner: PartnerTable;
  api_key: ApiKeyTable;
  attribute: AttributeTable;
  attribute_foreign_key: AttributeForeignKeyTable;
  job: JobTable;
  import_log: ImportLogTable;
  job_credential: JobCredentialTable;
  job_file: JobFileTable;
  sweep: { name: string; ran_at: Timestamp };
  job_file_reject: JobFileRejectTable;
};
