import { sql } from 'kysely';
import { toScopes } from '../../../domain/caller.ts';
import type { KeyHolder } from '../../../ports/partner-store.ts';
import type { Database } from '../connect.ts';
import { keyWithHash, partnerWithKey } from '../partners/with-key.ts';

/**
 * The hash is looked up by an index, which takes a little longer the more of its beginning is right. That helps nobody:
 * a caller chooses a key, not a hash, and a beginning of a SHA-256 says nothing of the 196 random bits behind it.
 */
export async function selectKeyHolder(db: Database, keyHash: Uint8Array): Promise<KeyHolder | null> {
  const found = await db
    .selectFrom(keyWithHash(keyHash).as('key'))
    .innerJoin(partnerWithKey(keyHash).as('partner'), 'partner.id', 'key.partner_id')
    .select([
      'partner.id',
      'partner.name',
      'partner.prefix',
      'key.id as keyId',
      'key.scopes',
      sql<boolean>`key.revoked_at IS NULL AND coalesce(key.expires_at > now(), true)`.as('isValid'),
      // The same minute as in note_key_uses(), which has the last word.
      sql<boolean>`coalesce(key.last_used_at < now() - interval '1 minute', true)`.as('isUseDue'),
    ])
    .executeTakeFirst();
  if (!found) return null;
  const { id, name, prefix, keyId, isValid, isUseDue } = found;
  return { partner: { id, name, prefix }, keyId, scopes: toScopes(found.scopes), isValid, isUseDue };
}
