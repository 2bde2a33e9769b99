import type { CompositionCounts, Counting } from '../domain/composition/counts.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { Generation } from './warehouse.ts';

/** Which parts of a shard's known devices are in the index. */
export type FoldedBlocks = {
  /** Identifies the table. A rebuild of the known devices replaces the table. */
  readonly table: string;
  /** Ranges of block numbers, both ends inclusive. */
  readonly blocks: readonly (readonly [number, number])[];
};

/** Identifies one update of the index. The lease belongs to the worker that is allowed to update the index. */
export type Fold = { readonly foldId: number; readonly leaseId: number };

/** Attribute rows that the index does not contain yet. */
export type ChangedAttributes = {
  readonly partnerId: PartnerId;
  /** Rows with this version or a later one. 0 replaces all of the partner's bitmaps. */
  readonly fromVersion: number;
  /** The bitmaps of these attributes are replaced. */
  readonly attributeIds: readonly number[];
};

/** The state of an audience as the index contains it. */
export type FoldedAudience = Generation & {
  readonly loadId: number;
  readonly foldId: number;
  readonly devices: number;
};

export type MatchedCount = FoldedAudience & { readonly matched: number };

/** The bitmaps in ClickHouse. Every method can be repeated. A fold leaves the rows that it reads unchanged. */
export interface DeviceIndex {
  /** Returns the highest ID of a lease or fold in ClickHouse. */
  highestFold(): Promise<number>;
  /** Stops the statements of all earlier leases. Fails if the index contains a later fold. */
  takeLease(leaseId: number): Promise<void>;
  /** Throws if another worker has taken the lease. */
  requireLease(leaseId: number): Promise<void>;
  foldKnownDevices(fold: Fold, folded: readonly FoldedBlocks[]): Promise<readonly FoldedBlocks[]>;
  foldAttributes(fold: Fold, changed: ChangedAttributes): Promise<void>;
  /** Returns the number of distinct devices. */
  foldAudience(fold: Fold, members: Generation): Promise<number>;
  /** Counts each audience's known devices. Leaves out audiences whose bitmaps have changed in the meantime. */
  countMatched(audiences: readonly FoldedAudience[]): Promise<readonly MatchedCount[]>;
  /**
   * Compares the bitmaps of all attributes and of these audiences with the rows. Returns one sentence per difference.
   * Rows that were published since the last fold appear as differences.
   */
  verify(audiences: readonly Generation[]): Promise<readonly string[]>;
  /** Deletes all bitmaps and numbers. */
  clear(): Promise<void>;
}

/** A noted change: the index lacks rows of a partner or an audience. Partner 0 stands for the known devices. */
export type IndexChange = {
  /** The IDs of the notes that are removed when this change has been folded. */
  readonly ids: readonly number[];
  readonly partnerId: PartnerId;
  /** Null for a change of the partner's attributes. */
  readonly audienceId: number | null;
  readonly fromVersion: number;
  readonly attributeIds: readonly number[];
};

/** What a report can read from the index. */
export type IndexState = {
  /** The audience's fold and number of devices. */
  readonly foldId: number;
  readonly devices: number;
  /** The last complete fold of each partner. Partner 0 stands for the known devices. */
  readonly folds: ReadonlyMap<number, number>;
};

/** What the index contains, recorded in PostgreSQL. */
export interface IndexStore {
  /** Calls `run` unless another process is updating the index. Returns whether `run` was called. */
  runAlone(run: () => Promise<void>): Promise<boolean>;
  nextFoldId(): Promise<number>;
  /** Makes sure that the next ID is higher than this one. */
  advanceFoldId(past: number): Promise<void>;
  /** Excludes these notes from `listChanges` for this many seconds. */
  postpone(ids: readonly number[], seconds: number): Promise<void>;
  /** Returns the oldest changes, one per partner or audience. Leaves out postponed changes. */
  listChanges(limit: number): Promise<readonly IndexChange[]>;
  /** Returns the current state of an audience, or null if it does not exist. */
  findAudience(audienceId: number): Promise<(Generation & { readonly loadId: number }) | null>;
  listFoldedBlocks(): Promise<readonly FoldedBlocks[]>;
  recordKnownDevices(foldId: number, folded: readonly FoldedBlocks[]): Promise<void>;
  /** Records a fold and removes the notes of the change. */
  recordAttributes(change: IndexChange, foldId: number): Promise<void>;
  /** The version of the known devices. It advances after every import that adds devices. */
  knownVersion(): Promise<number>;
  /** Lists audiences whose current state is in the index and whose matched devices were counted before this version. */
  listStaleMatched(version: number, limit: number): Promise<readonly FoldedAudience[]>;
  /** Stores the counts of audiences that have not changed since they were counted. */
  recordMatched(version: number, counts: readonly MatchedCount[]): Promise<void>;
  /** Lists the audiences whose current generation is in the index. */
  listFoldedAudiences(): Promise<readonly Generation[]>;
  recordAudience(change: IndexChange, folded: FoldedAudience | null): Promise<void>;
  /** Notes everything as changed, for a rebuild. Returns the number of changes. */
  noteAll(): Promise<number>;
  hasChanges(): Promise<boolean>;
  countChanges(): Promise<number>;
}

export interface AudienceProfiler {
  /**
   * For every attribute with devices, counts its devices in the warehouse and among the matched members. Returns null
   * if the index is ahead of `state`. The caller must then read the state again.
   */
  profile(
    members: Generation,
    counting: Counting,
    state: IndexState,
    signal: AbortSignal,
  ): Promise<CompositionCounts | null>;
}
