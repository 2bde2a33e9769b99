/** The spec's status codes, shared by import logs, audiences and files. */
export const jobStatus = { pending: 0, running: 1, done: 2, failed: 3 } as const;
export type JobStatus = (typeof jobStatus)[keyof typeof jobStatus];

/** Decision 4: which status may follow which. 2 and 3 are final. */
const allowed: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  [jobStatus.pending]: [jobStatus.running, jobStatus.failed],
  [jobStatus.running]: [jobStatus.done, jobStatus.failed],
  [jobStatus.done]: [],
  [jobStatus.failed]: [],
};

/** The statuses from which `to` may be reached: what a guarded UPDATE puts into its WHERE. */
export function statusesBefore(to: JobStatus): JobStatus[] {
  return Object.values(jobStatus).filter((from) => allowed[from].includes(to));
}

/** The statuses of a job or file that still has something to come. */
export const openStatuses: JobStatus[] = Object.values(jobStatus).filter((status) => allowed[status].length > 0);

export const jobKind = { import: 'import', delete: 'delete', audience: 'audience' } as const;
export type JobKind = (typeof jobKind)[keyof typeof jobKind];
