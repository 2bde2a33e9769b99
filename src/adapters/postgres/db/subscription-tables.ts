import type { ColumnType, Generated } from 'kysely';
import type { JobId, PartnerId } from '../../../domain/ids.ts';

type Timestamp = ColumnType<Date, Date | undefined, Date>;

export type SubscriptionTable = {
  id: Generated<number>;
  partner_id: PartnerId;
  prefix: string;
  key_type: number;
  compressed: boolean;
  skips_existing: boolean;
  quiet_seconds: number | null;
  marker: string | null;
  every_seconds: number | null;
  daily_at: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  paused_at: Date | null;
  deleted_at: Date | null;
};

export type SubscriptionStateTable = {
  subscription_id: number;
  partner_id: PartnerId;
  is_active: Generated<boolean>;
  claim: Generated<number>;
  claimed_at: Timestamp;
  claimed_until: Date | null;
  woken_at: Date | null;
  next_listing_at: Timestamp;
  listed_at: Date | null;
  changed_at: Date | null;
  next_import_at: Date | null;
  waits_for: string | null;
  last_job_id: JobId | null;
};

export type SubscriptionObjectTable = {
  id: Generated<number>;
  subscription_id: number;
  partner_id: PartnerId;
  key: string;
  etag: string;
  size: number;
  last_modified: Date;
  state: string;
  job_id: JobId | null;
  error_code: string | null;
  seen_at: Timestamp;
  updated_at: Timestamp;
  gone_at: Date | null;
};
