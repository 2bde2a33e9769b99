import type { SuppressionList } from '../domain/suppression.ts';

/** A change to the list. Hashes are in Base64. */
export type SuppressionChange = {
  readonly version: number;
  readonly isRemoval: boolean;
  readonly hashes: readonly string[];
};

/** The hashes of one list. Two lists with the same number and checksum are equal. */
export type ListContent = { readonly hashes: number; readonly checksum: string };

/** One ClickHouse server. Numbers start at 1. */
export type ListServer = ListContent & {
  readonly shard: number;
  readonly replica: number;
  /** The hashes in the set of the current version. Null if the server has no such set. */
  readonly inSet: number | null;
};

/** The list in ClickHouse. Every method includes all servers and fails if one is unavailable. */
export interface SuppressionEngine {
  /** Stores the key from which stand-ins are derived. */
  writeKey(key: string): Promise<void>;
  /** Writes added or removed hashes. A later version takes precedence. Idempotent. */
  write(change: SuppressionChange): Promise<void>;
  /** Copies to each server what the other servers have. */
  copyMissing(): Promise<void>;
  measure(version: number): Promise<readonly ListServer[]>;
  /** Builds the set of this version, which loads are checked against. */
  createSets(version: number): Promise<void>;
  /** Drops the sets of all other versions. A running load keeps its set until it ends. */
  dropOtherSets(version: number): Promise<void>;
  /** Counts the stored devices that are on the list, on each shard. Reads all rows. */
  countMatches(version: number): Promise<readonly number[]>;
}

export type RecordedList = SuppressionList & {
  readonly checksum: string;
  readonly standInKey: string;
  readonly changedAt: Date;
};

/** An entry of the audit log. */
export type SuppressionEvent = {
  readonly event: 'suppression.add' | 'suppression.remove' | 'suppression.sync';
  readonly actor: string;
  /** Entries in the request, including those that change nothing. */
  readonly entries: number;
};

export interface SuppressionRecords {
  read(): Promise<RecordedList>;
  /** Returns a version that no other change uses. */
  reserveVersion(): Promise<number>;
  /** Makes the version current and adds the event to the audit log, in one transaction. */
  setCurrent(list: SuppressionList & { readonly checksum: string }, event: SuppressionEvent): Promise<void>;
  /** Counts running jobs, and jobs whose files are being repaired, with rows that were checked against an earlier version. */
  countOutdatedJobs(): Promise<number>;
}
