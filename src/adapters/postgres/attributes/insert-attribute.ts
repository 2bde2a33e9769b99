import type { Attribute } from '../../../domain/attribute.ts';
import type { Database } from '../connect.ts';
import { tieForeignKeys } from './tie-foreign-keys.ts';

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
    await tieForeignKeys(tx, partnerId, id, attribute.foreignKeys);
    return { id, ...attribute, isRetired: false };
  });
}
