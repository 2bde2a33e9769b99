import type { ColumnType, Generated } from 'kysely';
import type { SignedProof } from '../../../domain/erasure.ts';
import type { PartnerId } from '../../../domain/ids.ts';

type Timestamp = ColumnType<Date, Date | undefined, Date>;

export type ErasureTable = {
  id: Generated<number>;
  partner_id: PartnerId | null;
  batch_id: number | null;
  status: Generated<number>;
  requested_by: string;
  object_key: string | null;
  key_id: string | null;
  sealed: Uint8Array | null;
  ids: Generated<number>;
  invalid_lines: Generated<number>;
  ids_salt: Generated<string>;
  ids_digest: Generated<string>;
  waiting_for: string | null;
  failure_code: string | null;
  failure_detail: string | null;
  proof: ColumnType<SignedProof | null, string | null | undefined, string>;
  proof_csv: string | null;
  requested_at: Timestamp;
  finished_at: Date | null;
};

export type ErasureBatchTable = {
  id: Generated<number>;
  step: Generated<string>;
  claim: Generated<number>;
  claimed_until: Date | null;
  waits_for: string | null;
  list_id: Generated<number>;
  last_load_id: number;
  rounds: Generated<number>;
  first_fold_id: number | null;
  erased: ColumnType<unknown, string | undefined, string>;
  remaining: ColumnType<unknown, string | undefined, string>;
  started_at: Timestamp;
  erased_at: Date | null;
  finished_at: Date | null;
};
