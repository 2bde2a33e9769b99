import type { JobId, LoadId, PartnerId } from '../domain/ids.ts';
import type { KeyType } from '../domain/import-log.ts';
import type { SuppressionList } from '../domain/suppression.ts';
import type { Load, LoadTarget } from './load-stage.ts';
import type { JobSource, StoredObject } from './object-store.ts';

/** A loaded file of a finished job, as recorded. */
export type FileToRepair = {
  readonly fileId: number;
  /** The load that published the file. */
  readonly loadId: LoadId;
  readonly jobId: JobId;
  readonly partnerId: PartnerId;
  readonly seq: number;
  /** Null for audiences. */
  readonly keyType: KeyType | null;
  /** The suppression list when the files were listed. */
  readonly suppression: SuppressionList;
  readonly target: LoadTarget;
  readonly source: JobSource;
  readonly object: StoredObject;
  readonly path: string;
  readonly expectGzip: boolean | null;
  readonly totalRows: number;
  readonly acceptedRows: number;
};

/** What has changed since a job. A repair must not bring back data that the partner's later jobs removed. */
export type LaterChanges = {
  readonly deletedAttributeIds: readonly number[];
  readonly hasReplace: boolean;
  /** Whether a foreign key may now refer to a different attribute. */
  readonly hasMovedKeys: boolean;
  /**
   * Whether the rows of the job are removed because they have not been seen for the number of days that is set for the
   * partner.
   */
  readonly isUnseen: boolean;
};

/** The work whose rows may be missing. */
export type Incomplete =
  | { readonly kind: 'import'; readonly jobId: JobId }
  | { readonly kind: 'audience'; readonly audienceId: number };

export interface RepairRecords {
  /** Lists the loaded files of an import, or of the current generation of an audience, in the order of their IDs. */
  listFiles(of: Incomplete): Promise<readonly FileToRepair[]>;
  /** Lists the newest loads published in the last few days. */
  listRecentLoads(limit: number): Promise<readonly LoadId[]>;
  /** Lists the finished imports and the audiences that have published loads with this ID or higher. */
  listSince(loadId: LoadId, partnerId: PartnerId | null): Promise<readonly Incomplete[]>;
  /** Returns the current suppression list. */
  readSuppression(): Promise<SuppressionList>;
  findLaterChanges(partnerId: PartnerId, seq: number): Promise<LaterChanges>;
  /**
   * Assigns a load ID that maps to the same shard as `like`, and protects the new load's stage from being dropped as an
   * orphan.
   */
  startLoad(file: FileToRepair, like: LoadId, shards: number): Promise<LoadId>;
  endLoads(loadIds: readonly LoadId[]): Promise<void>;
  /**
   * Runs `run` while the partner has no open job and cannot submit one, so that no delete runs at the same time. If the
   * partner still has open jobs after `waitSeconds`, returns null without calling `run`.
   */
  whileIdle<T>(partnerId: PartnerId, waitSeconds: number, run: () => Promise<T>): Promise<T | null>;
}

/** A file that is staged again. */
export type StagedFile = { readonly load: Load; readonly file: FileToRepair };

export interface RepairEngine {
  readonly shards: number;
  /** Returns the loads for which the receiving shard has no counts. */
  findUncounted(loadIds: readonly LoadId[]): Promise<readonly LoadId[]>;
  /** Counts the staged rows that are missing from the final table, excluding rows of `exceptAttributeIds`. */
  countMissing(staged: StagedFile, exceptAttributeIds: readonly number[]): Promise<number>;
  /** Adds the staged rows to the final table, excluding rows of `exceptAttributeIds`. Idempotent. */
  addRows(staged: StagedFile, exceptAttributeIds: readonly number[]): Promise<void>;
  /** Restores the counts and rejected rows of the file's original load, if they are missing. */
  restoreCounts(staged: StagedFile): Promise<void>;
}
