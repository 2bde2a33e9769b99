import type { PartnerId } from '../../domain/ids.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Attribute } from '../../domain/attribute.ts';
import { type Quotas, defaultQuotas, requireQuota } from '../../domain/quota.ts';
import { type KeyType, keyType } from '../../domain/import-log.ts';
import type { AttributeStore, Page } from '../../ports/partner-store.ts';
import type { Database, Tx } from './db/tables.ts';
import { explainUniqueViolation } from './db/unique-violation.ts';
import { lockLane } from './lane/lane-store.ts';
import { selectUsage } from './usage-store.ts';

export const attributeTaken =
  'Names and foreign keys must be unique for a partner, and one of these is already in use.';

export function postgresAttributeStore(db: Database, quotas = defaultQuotas): AttributeStore {
  return {
    create: (partnerId, attribute) =>
      explainUniqueViolation(attributeTaken, () =>
        db
          .transaction()
          .execute((tx) => withinQuotas(tx, partnerId, quotas, () => insertAttribute(tx, partnerId, attribute))),
      ),
    list: (partnerId, which) => selectAttributes(db, partnerId, which),
    findKeys: (partnerId, type, keys) => selectKnownKeys(db, partnerId, type, keys),
    tie: (partnerId, attributeId, keys) =>
      db
        .transaction()
        .execute((tx) => withinQuotas(tx, partnerId, quotas, () => tieForeignKeys(tx, partnerId, attributeId, keys))),
    rename: (partnerId, attributeId, name) =>
      explainUniqueViolation(attributeTaken, () => changeAttribute(db, partnerId, attributeId, { name })),
    retire: (partnerId, attributeId) =>
      changeAttribute(db, partnerId, attributeId, { retired_at: sql<Date>`coalesce(retired_at, now())` }),
  };
}

/** Runs `write` and rejects it if it exceeds a quota. The lock makes concurrent writes wait. */
export async function withinQuotas<T>(
  tx: Tx,
  partnerId: PartnerId,
  quotas: Quotas,
  write: () => Promise<T>,
): Promise<T> {
  await lockLane(tx, partnerId);
  const before = await selectUsage(tx, partnerId);
  const written = await write();
  const after = await selectUsage(tx, partnerId);
  for (const name of ['attributes', 'foreignKeys'] as const) {
    const { used } = before[name];
    requireQuota(name, quotas, { used, added: after[name].used - used });
  }
  return written;
}

export async function changeAttribute(
  db: Database | Tx,
  partnerId: PartnerId,
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

/**
 * Creates an attribute. Fails if another attribute already has one of the foreign keys, because only `tie` moves a
 * foreign key.
 */
export async function insertAttribute(
  tx: Tx,
  partnerId: PartnerId,
  attribute: { name: string; foreignKeys: readonly string[] },
): Promise<Attribute> {
  const { id } = await tx
    .insertInto('attribute')
    .values({ partner_id: partnerId, name: attribute.name })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (attribute.foreignKeys.length > 0) await insertForeignKeys(partnerId, id, attribute.foreignKeys).execute(tx);
  return { id, ...attribute, isRetired: false };
}

export async function selectAttributes(
  db: Database | Tx,
  partnerId: PartnerId,
  which: { readonly retired: boolean; readonly page?: Page; readonly id?: number },
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
  if (which.id !== undefined) query = query.where('attribute.id', '=', which.id);
  if (which.page) query = query.where('attribute.id', '>', which.page.afterId).limit(which.page.limit);
  return query.execute();
}

const attributeIdForm = /^[1-9]\d{0,17}$/;

async function selectKnownKeys(
  db: Database,
  partnerId: PartnerId,
  type: KeyType,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } =
    type === keyType.attributeId
      ? await sql<{ key: string }>`
          SELECT id::text AS key FROM attribute
          WHERE partner_id = ${partnerId} AND id = ANY(${keys.filter((key) => attributeIdForm.test(key))}::bigint[])`.execute(
          db,
        )
      : await sql<{ key: string }>`
          SELECT foreign_key AS key FROM attribute_foreign_key
          WHERE partner_id = ${partnerId} AND foreign_key = ANY(${keys}::text[])`.execute(db);
  return new Set(rows.map(({ key }) => key));
}

/**
 * Maps foreign keys to an attribute. Each foreign key maps to one of the partner's attributes, so tying a foreign key
 * again moves it.
 */
export async function tieForeignKeys(
  tx: Tx,
  partnerId: PartnerId,
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
  await sql`${insertForeignKeys(partnerId, attributeId, foreignKeys)}
    ON CONFLICT (partner_id, foreign_key) DO UPDATE SET attribute_id = excluded.attribute_id`.execute(tx);
  return true;
}

/** The statement is the same for any number of keys, because the API prepares a limited number of statements. */
function insertForeignKeys(
  partnerId: PartnerId,
  attributeId: number,
  foreignKeys: readonly string[],
): RawBuilder<unknown> {
  return sql`
    INSERT INTO attribute_foreign_key (partner_id, foreign_key, attribute_id)
    SELECT ${partnerId}::bigint, key, ${attributeId}::bigint FROM unnest(${foreignKeys}::text[]) AS key`;
}
