// Everything that runs for a load, or for the replacement of a job, has a query id that begins so: the way to find and
// stop it.

export function loadQueryPrefix(loadId: number): string {
  return `inlet-load-${loadId}-`;
}

export function jobQueryPrefix(jobId: number): string {
  return `inlet-job-${jobId}-`;
}

/** A number of ours at the end, because the engine refuses a query id that is running. */
let serial = 0;

export function newQueryId(prefix: string, step: 'stage' | 'publish' | 'replace'): string {
  serial += 1;
  return `${prefix}${step}-${process.pid}-${serial}`;
}
