import type { Partner } from '../../../domain/partner.ts';
import type { Database } from '../connect.ts';

/** A partner and its first key come together or not at all. */
export async function insertPartner(
  db: Database,
  partner: { name: string; prefix: string; keyHash: Uint8Array },
): Promise<Partner> {
  return db.transaction().execute(async (tx) => {
    const made = await tx
      .insertInto('partner')
      .values({ name: partner.name, prefix: partner.prefix })
      .returning(['id', 'name', 'prefix'])
      .executeTakeFirstOrThrow();
    await tx
      .insertInto('api_key')
      .values({ partner_id: made.id, key_hash: Buffer.from(partner.keyHash), name: 'first' })
      .execute();
    return made;
  });
}
