import type { ColumnType, Generated } from 'kysely';
import type { PartnerId } from '../../../domain/ids.ts';
import type { PlaceCount, SignedRemovalProof } from '../../../domain/partner-removal.ts';

type Timestamp = ColumnType<Date, Date | undefined, Date>;

export type PartnerRemovalTable = {
  partner_id: PartnerId;
  name: string;
  prefix: string;
  has_storage_user: boolean;
  step: Generated<string>;
  requested_by: string;
  requested_at: Timestamp;
  removed: ColumnType<readonly PlaceCount[], string | undefined, string>;
  remaining: ColumnType<readonly PlaceCount[], string | undefined, string>;
  removed_at: Date | null;
  finished_at: Date | null;
  proof: ColumnType<SignedRemovalProof | null, string | null | undefined, string>;
};
