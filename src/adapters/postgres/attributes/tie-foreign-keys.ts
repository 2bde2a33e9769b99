import type { Tx } from '../connect.ts';

/** A key means one attribute of the partner; tying it again moves it. */
export async function tieForeignKeys(
  tx: Tx,
  partnerId: number,
  attributeId: number,
  foreignKeys: readonly string[],
): Promise<boolean> {
  const owned = await tx
    .selectFrom('attribute')
    .select('id')
    .where('partner_id', '=', partnerId)
    .where('id', '=', attributeId)
    .executeTakeFirst();
  if (!owned) return false;
  if (foreignKeys.length === 0) return true;
  await tx
    .insertInto('attribute_foreign_key')
    .values(foreignKeys.map((key) => ({ partner_id: partnerId, foreign_key: key, attribute_id: attributeId })))
    .onConflict((conflict) =>
      conflict.columns(['partner_id', 'foreign_key']).doUpdateSet({ attribute_id: attributeId }),
    )
    .execute();
  return true;
}
