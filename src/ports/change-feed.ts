import type { PartnerId } from '../domain/partner.ts';

/** Tells whose records have changed, some milliseconds later. It may miss some while it does not hear. */
export interface ChangeFeed {
  /** Null: whatever may have been missed, of anybody. With the first subscriber it begins to listen. */
  subscribe(onChange: (partnerId: PartnerId | null) => void): void;
  isHearing(): boolean;
}
