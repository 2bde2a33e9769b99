import type { ColumnType, Generated } from 'kysely';
import type { SignedDropProof } from '../../../domain/drop-proof.ts';

type Timestamp = ColumnType<Date, Date | undefined, Date>;
type Json = ColumnType<unknown, string | undefined, string>;

export type DropCycleTable = {
  id: Generated<number>;
  step: Generated<string>;
  claim: Generated<number>;
  claimed_until: Date | null;
  waiting_for: string | null;
  failure_detail: string | null;
  archive_name: string | null;
  archive_key: string | null;
  archive_bytes: number | null;
  archive_sha256: string | null;
  policy: ColumnType<unknown, string | null | undefined, string>;
  lists: Json;
  devices_found: Generated<number>;
  erasure_ids: ColumnType<number[], number[] | undefined, number[]>;
  erasure_list: ColumnType<unknown, string | null | undefined, string>;
  remaining: Json;
  statuses: Json;
  proof: ColumnType<SignedDropProof | null, string | null | undefined, string>;
  started_at: Timestamp;
  downloaded_at: Date | null;
  verified_at: Date | null;
  finished_at: Date | null;
  is_open: ColumnType<boolean | null, never, never>;
};

export type DropUploadTable = {
  cycle_id: number;
  name: string;
  is_amendment: Generated<boolean>;
  object_key: string;
  items: number;
  bytes: number;
  sha256: string;
  created_at: Timestamp;
  sent_at: Date | null;
  accepted_at: Date | null;
  message: string | null;
};

type DropFetchTable = {
  is_only: Generated<boolean>;
  first_tried_at: Timestamp;
  tried_at: Timestamp;
  fetched_at: Date | null;
  outcome: Generated<string>;
};

export type DropTables = {
  drop_cycle: DropCycleTable;
  drop_fetch: DropFetchTable;
  drop_upload: DropUploadTable;
};
