import { sql } from 'kysely';
import type { Attribute } from '../../domain/attribute.ts';
import type { AttributeStore } from '../../ports/attribute-store.ts';
import type { Database } from './connect.ts';

export function postgresAttributeStore(db: Database): AttributeStore {
  return {
    create: (partnerId, attribute) => insertAttribute(db, partnerId, attribute),
    list: (partnerId) => selectAttributes(db, partnerId),
  };
}

async function insertAttribute(
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
    return { id, ...attribute };
  });
}

async function selectAttributes(db: Database, partnerId: number): Promise<Attribute[]> {
  return db
    .selectFrom('attribute')
    .leftJoin('attribute_foreign_key as k', 'k.attribute_id', 'attribute.id')
    .where('attribute.partner_id', '=', partnerId)
    .where('attribute.retired_at', 'is', null)
    .groupBy('attribute.id')
    .orderBy('attribute.id')
    .select([
      'attribute.id',
      'attribute.name',
      sql<string[]>`coalesce(array_agg(k.foreign_key) FILTER (WHERE k.foreign_key IS NOT NULL), '{}')`.as(
        'foreignKeys',
      ),
    ])
    .execute();
}
