import { sql } from 'kysely';
import type { Attribute } from '../../../domain/attribute.ts';
import type { Page } from '../../../ports/customer-store.ts';
import type { Database } from '../connect.ts';

export async function selectAttributes(
  db: Database,
  partnerId: number,
  which: { readonly retired: boolean; readonly page?: Page },
): Promise<Attribute[]> {
  let query = db
    .selectFrom('attribute')
    .leftJoin('attribute_foreign_key as k', 'k.attribute_id', 'attribute.id')
    .where('attribute.partner_id', '=', partnerId)
    .groupBy('attribute.id')
    .orderBy('attribute.id')
    .select([
      'attribute.id',
      'attribute.name',
      sql<boolean>`attribute.retired_at IS NOT NULL`.as('isRetired'),
      sql<
        string[]
      >`coalesce(array_agg(k.foreign_key ORDER BY k.foreign_key) FILTER (WHERE k.foreign_key IS NOT NULL), '{}')`.as(
        'foreignKeys',
      ),
    ]);
  if (!which.retired) query = query.where('attribute.retired_at', 'is', null);
  if (which.page) query = query.where('attribute.id', '>', which.page.afterId).limit(which.page.limit);
  return query.execute();
}
