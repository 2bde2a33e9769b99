import type { Attribute } from '../../../domain/attribute.ts';
import type { Database } from '../connect.ts';

/** A new attribute takes no foreign key away from another: that is what tying is for. */
export async function insertAttribute(
  db: Database,
  partnerId: number,
  attribute: { name: string; foreignKeys: readonly string[] },
): Promise<Attribute> {
  return db.transaction().execute(async (tx) => {
    const { id } = await tx
      .insertInto('attribute')
      .values({ partner_id: partnerId, name: attribute.name })
      .returning('id')
      .executeTakeFirstOrThrow();
    const keys = attribute.foreignKeys.map((key) => ({ partner_id: partnerId, foreign_key: key, attribute_id: id }));
    if (keys.length > 0) await tx.insertInto('attribute_foreign_key').values(keys).execute();
    return { id, ...attribute, isRetired: false };
  });
}
