import type { PartnerId } from '../domain/ids.ts';
import type { PartnerUsage } from '../domain/quota.ts';
import type { StoredData } from './warehouse.ts';

/** How much of its quotas each partner has used. */
export interface UsageStore {
  /** Counts of audiences, attributes, and foreign keys are exact. The other values date from the last measurement. */
  read(partnerId: PartnerId): Promise<PartnerUsage>;
  /** Records the stored data of all partners. A partner that is not listed stores nothing. */
  recordStoredData(measured: readonly StoredData[]): Promise<void>;
  /** Counts the recorded requests of all partners. */
  recordIdempotencyKeys(): Promise<void>;
}
