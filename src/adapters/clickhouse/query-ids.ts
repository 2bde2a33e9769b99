/** Everything that runs for a load has a query id that begins so: the way to find and stop it. */
export function loadQueryPrefix(loadId: number): string {
  return `inlet-load-${loadId}-`;
}

/** A number of ours at the end, because the engine refuses a query id that is running. */
let serial = 0;

export function jobQueryPrefix(jobId: number): string {
  return `inlet-job-${jobId}-`;
}

export function jobQueryId(jobId: number): string {
  serial += 1;
  return `${jobQueryPrefix(jobId)}${process.pid}-${serial}`;
}

export function loadQueryId(loadId: number, step: 'stage' | 'publish'): string {
  serial += 1;
  return `${loadQueryPrefix(loadId)}${step}-${process.pid}-${serial}`;
}
