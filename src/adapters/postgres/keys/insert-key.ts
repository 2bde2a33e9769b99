import { sql } from 'kysely';
import type { ApiKey, KeyWish } from '../../../domain/api-key.ts';
import type { Database, Tx } from '../connect.ts';
import { shownColumns, toApiKey } from './shown-columns.ts';

export async function insertKey(
  db: Database | Tx,
  partnerId: number,
  keyHash: Uint8Array,
  { name, scopes, livesSeconds }: KeyWish,
): Promise<ApiKey> {
  const made = await db
    .insertInto('api_key')
    .values({
      partner_id: partnerId,
      key_hash: Buffer.from(keyHash),
      name,
      scopes: scopes && [...scopes],
      // The clock of the database, which also judges it.
      expires_at: sql<Date | null>`now() + make_interval(secs => ${livesSeconds}::double precision)`,
    })
    .returning(shownColumns)
    .executeTakeFirstOrThrow();
  return toApiKey(made);
}
