import type { AudienceScope } from '../../../domain/audience.ts';
import type { AudienceState } from '../../../ports/composition-store.ts';
import { inScope } from '../audiences/in-scope.ts';
import type { Database } from '../connect.ts';

export async function selectAudienceState(
  db: Database,
  scope: AudienceScope,
  warehouseSegmentId: number,
): Promise<AudienceState | null> {
  const row = await db
    .selectFrom('audience')
    .select(['id', 'partner_id', 'generation', 'last_load_id'])
    .where('warehouse_segment_id', '=', warehouseSegmentId)
    .where(inScope(scope))
    .executeTakeFirst();
  if (!row) return null;
  return {
    partnerId: row.partner_id,
    audienceId: row.id,
    generation: row.generation,
    lastLoadId: row.last_load_id ?? 0,
  };
}
