import { z } from 'zod';
import type { PublishedOverlap } from '../../domain/composition/overlap.ts';
import type { PartnerId } from '../../domain/ids.ts';
import type { OverlapStore, StoredOverlap } from '../../ports/report-store.ts';
import { inScope } from './audience-files.ts';
import { toAudienceState } from './composition-store.ts';
import type { Database, Tx } from './db/tables.ts';
import { selectFolded } from './index-store.ts';
import { chargeBudget, lockBudget } from './report-budget.ts';

const overlapSchema = z.object({
  isProtected: z.boolean(),
  audiences: z.array(z.object({ audienceId: z.int(), devices: z.int() })),
  intersections: z.array(z.object({ audienceIds: z.array(z.int()), devices: z.int().nullable(), small: z.boolean() })),
  reach: z.int(),
}) satisfies z.ZodType<PublishedOverlap>;

export function postgresOverlapStore(db: Database): OverlapStore {
  return {
    findAudiences: async (scope, audienceIds) => {
      const rows = await db
        .selectFrom('audience')
        .select(['id', 'partner_id', 'customer_id', 'generation', 'last_load_id'])
        .where('id', 'in', [...audienceIds])
        .where(inScope(scope))
        .execute();
      const found = new Map(rows.map((row) => [row.id, toAudienceState(row)]));
      return audienceIds.flatMap((id) => found.get(id) ?? []);
    },
    findFolded: (audiences) => selectFolded(db, audiences),
    find: (partnerId, key) => selectOverlap(db, partnerId, key),
    save: (key, overlap, charge) =>
      db.transaction().execute(async (tx) => {
        const { partnerId } = charge.owner;
        await lockBudget(tx, charge.owner);
        const stored = await selectOverlap(tx, partnerId, key);
        if (stored) return stored;
        if (!(await chargeBudget(tx, charge))) return null;
        const computedAt = new Date();
        await tx
          .insertInto('overlap')
          .values({ partner_id: partnerId, key, published: JSON.stringify(overlap), computed_at: computedAt })
          .execute();
        return { overlap, computedAt };
      }),
  };
}

async function selectOverlap(db: Database | Tx, partnerId: PartnerId, key: string): Promise<StoredOverlap | null> {
  const row = await db
    .selectFrom('overlap')
    .select(['published', 'computed_at'])
    .where('partner_id', '=', partnerId)
    .where('key', '=', key)
    .executeTakeFirst();
  return row ? { overlap: overlapSchema.parse(row.published), computedAt: row.computed_at } : null;
}
