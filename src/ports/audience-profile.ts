import type { CompositionCounts, Counting } from '../domain/composition/counts.ts';

/** The members of one generation of an audience. */
export type AudienceMembers = {
  readonly partnerId: number;
  readonly audienceId: number;
  readonly generation: number;
};

export type WarehouseAttribute = { readonly id: number; readonly partnerId: number };

export interface AudienceProfiler {
  /** Counts, for every attribute that has live rows, its devices in the warehouse and among the matched members. */
  profile(
    members: AudienceMembers,
    counting: Counting,
    attributes: readonly WarehouseAttribute[],
    signal: AbortSignal,
  ): Promise<CompositionCounts>;
}
