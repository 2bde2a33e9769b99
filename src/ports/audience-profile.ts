import type { CompositionCounts, Counting } from '../domain/composition/counts.ts';
import type { Generation } from './audience-warehouse.ts';

export type WarehouseAttribute = { readonly id: number; readonly partnerId: number };

export interface AudienceProfiler {
  /** Counts, for every attribute that has live rows, its devices in the warehouse and among the matched members. */
  profile(
    members: Generation,
    counting: Counting,
    attributes: readonly WarehouseAttribute[],
    signal: AbortSignal,
  ): Promise<CompositionCounts>;
}
