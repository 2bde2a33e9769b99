import type { ColumnType, Generated } from 'kysely';
import type { JobId, PartnerId } from '../../../domain/ids.ts';

type Timestamp = ColumnType<Date, Date | undefined, Date>;

export type JobFileRejectTable = { job_file_id: number; reason: string; rows: number; first_row: number };

export type RejectExportTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  job_id: JobId;
  job_file_id: number | null;
  folder: string;
  status: Generated<number>;
  attempt: Generated<number>;
  earlier_attempts: Generated<number>;
  claimed_until: Date | null;
  requested_at: Timestamp;
  started_at: Date | null;
  finished_at: Date | null;
  expires_at: Date | null;
  failure_code: string | null;
  failure_detail: string | null;
};

export type RejectFileTable = {
  export_id: number;
  job_file_id: number;
  partner_id: PartnerId;
  status: Generated<number>;
  bytes_read: Generated<number>;
  rows: Generated<number>;
  object_key: string | null;
  object_bytes: Generated<number>;
  failure_code: string | null;
  failure_detail: string | null;
};
