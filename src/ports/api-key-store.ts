import type { ApiKey, KeyWish } from '../domain/api-key.ts';
import type { PartnerId } from '../domain/partner.ts';
import type { Page } from './customer-store.ts';

/** API keys as an operator sees them. What belongs to another partner is as good as not there. */
export interface ApiKeyStore {
  create(partnerId: PartnerId, keyHash: Uint8Array, wish: KeyWish): Promise<ApiKey>;
  list(partnerId: PartnerId, page: Page): Promise<readonly ApiKey[]>;
  /**
   * A second key like the first, which ends after the overlap, or earlier if it was to. Without a time of its own the
   * new one lives as long as the old one was to. Null when the partner has no such key, or it has ended.
   */
  rotate(
    partnerId: PartnerId,
    keyId: number,
    next: { readonly keyHash: Uint8Array; readonly livesSeconds: number | null; readonly overlapSeconds: number },
  ): Promise<{ readonly old: ApiKey; readonly made: ApiKey } | null>;
  /** False when the partner has no such key. A key that was revoked keeps the time of the first. */
  revoke(partnerId: PartnerId, keyId: number): Promise<boolean>;
  /** Writes nothing for a key whose last use was noted less than a minute ago. */
  noteUses(keyIds: readonly number[]): Promise<void>;
}
