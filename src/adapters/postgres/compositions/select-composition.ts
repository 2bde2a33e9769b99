import type { Counting } from '../../../domain/composition/counts.ts';
import type { AudienceState, StoredCounts } from '../../../ports/composition-store.ts';
import type { Database } from '../connect.ts';
import { readCounts } from './stored-counts.ts';

export async function selectComposition(
  db: Database,
  audience: AudienceState,
  counting: Counting,
): Promise<StoredCounts | null> {
  const row = await db
    .selectFrom('composition')
    .select(['report', 'computed_at'])
    .where('audience_id', '=', audience.audienceId)
    .where('split', '=', counting)
    .where('generation', '=', audience.generation)
    .where('last_load_id', '=', audience.lastLoadId)
    .executeTakeFirst();
  return row ? { counts: readCounts(row.report), computedAt: row.computed_at } : null;
}
