/** How far a job is: from our own records, so that asking costs the engine nothing. */
export type Progress = {
  readonly bytesRead: number;
  readonly bytesTotal: number;
  readonly rowsRead: number;
  /** Open jobs of the partner before this one; 0 when it is its turn or when it has ended. */
  readonly queuePosition: number;
  /** Null while nothing can be said: before the first bytes, or while it waits. */
  readonly secondsLeft: number | null;
};

export function estimateSecondsLeft(read: { bytes: number; total: number }, secondsSoFar: number): number | null {
  if (read.total === 0 || read.bytes === 0) return null;
  return Math.ceil((secondsSoFar * (read.total - read.bytes)) / read.bytes);
}
