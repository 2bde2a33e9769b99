import type { FailureCode } from '../domain/failure-catalogue.ts';
import type { JobStatus } from '../domain/job.ts';

/** One file of a job, as its partner may see it. */
export type LoadedFile = {
  readonly id: number;
  readonly path: string;
  readonly status: JobStatus;
  readonly totalRows: number;
  readonly rejectedRows: number;
  readonly bytes: number;
  readonly bytesRead: number;
  readonly failure: { readonly code: FailureCode; readonly detail: string } | null;
  readonly loadId: number | null;
  readonly updatedAt: Date;
};

export type FilePage = { readonly afterId: number; readonly limit: number; readonly onlyWithErrors: boolean };
