/** The number of rows on each shard, in shard order. */
export type ShardRows = readonly number[];

/** The account of a staged load: the rows of its accepted files, as counted on each shard when they were staged. */
export type LoadAccount = {
  readonly staged: ShardRows;
  /** True if these rows were published. In that case, the staging table may already have been dropped. */
  readonly isPublished: boolean;
  /** The version of the suppression list that the rows were checked against. */
  readonly suppressionVersion: number;
};

/** Every row that the accepted lines produce must be on exactly one shard. Returns the difference, or null. */
export function stagingDifference(expected: number, staged: ShardRows): string | null {
  const rows = staged.reduce((sum, ofShard) => sum + ofShard, 0);
  return rows === expected ? null : `${expected} rows were accepted, but ${rows} are staged (${staged.join(' + ')}).`;
}

/** Each shard must have the rows that were counted when the load was staged. Returns the difference, or null. */
export function shardDifference(staged: ShardRows, found: ShardRows): string | null {
  const isEqual = staged.length === found.length && staged.every((rows, index) => rows === found[index]);
  return isEqual ? null : `${staged.join(' + ')} rows were staged, but ${found.join(' + ')} were found.`;
}
