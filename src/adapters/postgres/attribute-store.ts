import { sql } from 'kysely';
import { DatabaseError } from 'pg';
import { Failure } from '../../domain/failure.ts';
import type { AttributeStore } from '../../ports/attribute-store.ts';
import { insertAttribute } from './attributes/insert-attribute.ts';
import { selectAttributes } from './attributes/select-attributes.ts';
import { tieForeignKeys } from './attributes/tie-foreign-keys.ts';
import type { Database } from './connect.ts';

export function postgresAttributeStore(db: Database): AttributeStore {
  return {
    create: (partnerId, attribute) => explainDoubles(() => insertAttribute(db, partnerId, attribute)),
    list: (partnerId, which) => selectAttributes(db, partnerId, which),
    tie: (partnerId, attributeId, keys) =>
      db.transaction().execute((tx) => tieForeignKeys(tx, partnerId, attributeId, keys)),
    rename: (partnerId, attributeId, name) => explainDoubles(() => change(db, partnerId, attributeId, { name })),
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

const uniqueViolation = '23505';

async function explainDoubles<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === uniqueViolation)) throw error;
    const detail = 'Names and foreign keys are unique for a partner, and one of these is taken.';
    throw new Failure('invalid_request', detail, { cause: error });
  }
}
