// Everything that runs for a load, and what runs for a job as a whole, has a query id that begins so: the way to find and
// stop it.

export function loadQueryPrefix(loadId: number): string {
  return `inlet-load-${loadId}-`;
}

export function jobQueryPrefix(jobId: number): string {
  return `inlet-job-${jobId}-`;
}

/** A number of ours at the end, because the engine refuses a query id that is running. */
let serial = 0;

export function newQueryId(prefix: string, step: 'stage' | 'publish' | 'replace' | 'count'): string {
  serial += 1;
  return `${prefix}${step}-${process.pid}-${serial}`;
}
