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

// Which of two rows of the same device and attribute stands: the one with the higher version. Later jobs win over
// earlier ones, and within one job an add wins over a delete (decision 12).

export type JobVersions = { readonly ofDeletes: number; readonly ofAdds: number };

export function versionsOfJob(seq: number): JobVersions {
  return { ofDeletes: seq * 2, ofAdds: seq * 2 + 1 };
}

/** Files up to this size are loaded together: the cost of a load is mostly its own, not that of its rows. */
const smallFileBytes = 1024 * 1024;

/** How large a batch of them may become. Several can then be staged at a time, and one bad batch is not all of it. */
const batchBytes = 64 * 1024 * 1024;
const batchFiles = 250;

/** Which files are loaded together: large ones alone, small ones with their neighbours. */
export function intoBatches<File extends { readonly size: number }>(files: readonly File[]): File[][] {
  const batches: File[][] = [];
  let open: { files: File[]; bytes: number } | null = null;
  for (const file of files) {
    if (file.size > smallFileBytes) {
      batches.push([file]);
      continue;
    }
    if (!open || open.files.length === batchFiles || open.bytes + file.size > batchBytes) {
      open = { files: [], bytes: 0 };
      batches.push(open.files);
    }
    open.files.push(file);
    open.bytes += file.size;
  }
  return batches;
}
