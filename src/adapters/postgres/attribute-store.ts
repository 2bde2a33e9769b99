import { sql } from 'kysely';
import type { AttributeStore } from '../../ports/attribute-store.ts';
import { insertAttribute } from './attributes/insert-attribute.ts';
import { selectAttributes } from './attributes/select-attributes.ts';
import { tieForeignKeys } from './attributes/tie-foreign-keys.ts';
import type { Database } from './connect.ts';

export function postgresAttributeStore(db: Database): AttributeStore {
  return {
    create: (partnerId, attribute) => insertAttribute(db, partnerId, attribute),
    list: (partnerId, which) => selectAttributes(db, partnerId, which),
    tie: (partnerId, attributeId, keys) =>
      db.transaction().execute((tx) => tieForeignKeys(tx, partnerId, attributeId, keys)),
    rename: async (partnerId, attributeId, name) => change(db, partnerId, attributeId, { name }),
    retire: async (partnerId, attributeId) =>
      change(db, partnerId, attributeId, { retired_at: sql<Date>`coalesce(retired_at, now())` }),
  };
}

async function change(
  db: Database,
  partnerId: number,
  attributeId: number,
  values: { name: string } | { retired_at: ReturnType<typeof sql<Date>> },
): Promise<boolean> {
  const changed = await db
    .updateTable('attribute')
    .set(values)
    .where('partner_id', '=', partnerId)
    .where('id', '=', attributeId)
    .returning('id')
    .executeTakeFirst();
  return changed !== undefined;
}
