import type { Generation } from '../../../ports/audience-warehouse.ts';

/** Partition and sort order begin so: nothing of another audience is read. */
export const isOfGeneration =
  'partner_id = {partner: UInt64} AND audience_id = {audience: UInt64} AND generation = {generation: UInt32}';

export function generationParameters({ partnerId, audienceId, generation }: Generation): Record<string, number> {
  return { partner: partnerId, audience: audienceId, generation };
}
