import { sql } from 'kysely';
import type { Counting } from '../../../domain/composition/counts.ts';
import type { AudienceState, StoredCounts } from '../../../ports/composition-store.ts';
import type { Database } from '../connect.ts';
import { storeCounts } from './stored-counts.ts';

/**
 * The first report of a state stays: its numbers must not change while the audience does not. Who was slow must not
 * overwrite what was computed for a later state either.
 */
export async function saveComposition(
  db: Database,
  audience: AudienceState,
  counting: Counting,
  stored: StoredCounts,
): Promise<void> {
  const values = {
    generation: audience.generation,
    last_load_id: audience.lastLoadId,
    report: storeCounts(stored.counts),
    computed_at: stored.computedAt,
  };
  await db
    .insertInto('composition')
    .values({ audience_id: audience.audienceId, split: counting, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['audience_id', 'split'])
        .doUpdateSet(values)
        .where(
          sql<boolean>`(composition.generation, composition.last_load_id) < (excluded.generation, excluded.last_load_id)`,
        ),
    )
    .execute();
}
