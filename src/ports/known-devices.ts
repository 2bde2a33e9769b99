/** Identifies the next tables of one rebuild on all servers. */
export type NextTables = readonly string[];

/**
 * The steps that rebuild the known devices from the live rows of the warehouse. Every step can be repeated, and a
 * rebuild can start over after any step. Reads see either the old or the new devices of a shard.
 */
export interface KnownDevicesRebuild {
  /** Completes the swap of an earlier rebuild that was interrupted. */
  finishSwap(): Promise<void>;
  count(): Promise<number>;
  /** Creates an empty next table. From now on, devices that imports add are written to both tables. */
  begin(): Promise<NextTables>;
  /** Adds the devices with a live attribute row to the next table. If aborted, stops the running statements. */
  fill(signal: AbortSignal): Promise<void>;
  /** Drops the next table, unless another rebuild has created it. */
  abandon(next: NextTables): Promise<void>;
  /** Swaps the two tables atomically on each shard. Fails if another rebuild has created the next table. */
  swap(next: NextTables): Promise<void>;
  dropOld(): Promise<void>;
}

export interface KnownDevicesStore {
  /** Whether the last rebuild, or the installation if there was none, was more than this many days ago. */
  isRebuildDue(days: number): Promise<boolean>;
  /** Marks the matched counts of all audiences as stale. */
  advance(): Promise<void>;
  /** Records that a rebuild has ended. */
  recordRebuild(): Promise<void>;
  /**
   * Runs background work, unless a migration, a backup, or another command that changes the tables is running. Aborts
   * the signal when one of these is waiting. Returns whether the work was completed.
   */
  runBetweenMigrations(run: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<boolean>;
}
