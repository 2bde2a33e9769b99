import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Tables } from '../tables.ts';

// Before a caller is known the api sees no row of any table. These give it the one that belongs to a key, to be used
// in place of the tables.

export function keyWithHash(keyHash: Uint8Array): RawBuilder<Selectable<Tables['api_key']>> {
  return sql`key_with_hash(${Buffer.from(keyHash)})`;
}

export function partnerWithKey(keyHash: Uint8Array): RawBuilder<Selectable<Tables['partner']>> {
  return sql`partner_with_key(${Buffer.from(keyHash)})`;
}
