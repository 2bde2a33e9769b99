// Everything that runs for a load, and what runs for a job as a whole, has a query id that begins so: the way to find and
// stop it. Another installation on the same engine has loads and jobs of the same numbers, so each statement also names
// its database in its settings, which go along to the other shards.

export function loadQueryPrefix(loadId: number): string {
  return `inlet-load-${loadId}-`;
}

export function jobQueryPrefix(jobId: number): string {
  return `inlet-job-${jobId}-`;
}

/** In system.processes. A worker of the release before names no database: for one release what it runs is ours too. */
export const isOurStatement = `startsWith(initial_query_id, {prefix: String})
  AND Settings['log_comment'] IN (currentDatabase(), '')`;

/** A number of ours at the end, because the engine refuses a query id that is running. */
let serial = 0;

export function newQueryId(prefix: string, step: 'stage' | 'publish' | 'replace' | 'count'): string {
  serial += 1;
  return `${prefix}${step}-${process.pid}-${serial}`;
}
