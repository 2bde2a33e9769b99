import type { AudienceScope } from '../domain/audience.ts';
import type { CompositionCounts, Counting } from '../domain/composition/counts.ts';
import type { WarehouseAttribute } from './audience-profile.ts';
import type { Generation } from './audience-warehouse.ts';

/** An audience as it was after one load; the counts of an earlier state are of no use. */
export type AudienceState = Generation & { readonly lastLoadId: number };

export type StoredCounts = { readonly counts: CompositionCounts; readonly computedAt: Date };

export interface CompositionStore {
  /** Null when there is no such segment in the scope. */
  findAudience(scope: AudienceScope, warehouseSegmentId: number): Promise<AudienceState | null>;
  /** Null when nothing was computed for this state. */
  find(audience: AudienceState, counting: Counting): Promise<StoredCounts | null>;
  /** Keeps the counts, unless those of a later state are there already. */
  save(audience: AudienceState, counting: Counting, stored: StoredCounts): Promise<void>;
  /** Runs it as the only one in the whole fleet for this audience and counting; null when somebody else is at it. */
  runAlone<T>(audience: AudienceState, counting: Counting, run: () => Promise<T>): Promise<T | null>;
  /** Those of all partners, retired ones too. */
  listAttributes(): Promise<readonly WarehouseAttribute[]>;
  nameAttributes(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
}
