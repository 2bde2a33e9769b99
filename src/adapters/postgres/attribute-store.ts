import { sql } from 'kysely';
import type { AttributeStore } from '../../ports/attribute-store.ts';
import { insertAttribute } from './attributes/insert-attribute.ts';
import { selectAttributes } from './attributes/select-attributes.ts';
import { tieForeignKeys } from './attributes/tie-foreign-keys.ts';
import type { Database } from './connect.ts';
import { explainDoubles } from './explain-doubles.ts';

const taken = 'Names and foreign keys are unique for a partner, and one of these is taken.';

export function postgresAttributeStore(db: Database): AttributeStore {
  return {
    create: (partnerId, attribute) => explainDoubles(taken, () => insertAttribute(db, partnerId, attribute)),
    list: (partnerId, which) => selectAttributes(db, partnerId, which),
    tie: (partnerId, attributeId, keys) =>
      db.transaction().execute((tx) => tieForeignKeys(tx, partnerId, attributeId, keys)),
    rename: (partnerId, attributeId, name) => explainDoubles(taken, () => change(db, partnerId, attributeId, { name })),
    retire: (partnerId, attributeId) =>
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
