import type { JobId, PartnerId } from '../domain/ids.ts';
import type { AudienceScope } from '../domain/audience.ts';
import type { JobKind, JobStatus } from '../domain/job.ts';
import type { Partner } from '../domain/partner.ts';
import type { NewImport } from './import-log-store.ts';

/** A partner's lane that has open jobs, as operators see it. */
export type LaneState = {
  readonly partnerId: PartnerId;
  readonly partner: string;
  readonly openJobs: number;
  readonly oldestJob: { readonly id: number; readonly kind: JobKind; readonly status: JobStatus; readonly since: Date };
  readonly files: { readonly open: number; readonly loading: number; readonly ended: number };
  /** Whether a worker is running the lane, or what the lane is waiting for. */
  readonly is:
    | 'running'
    | 'waiting for a worker'
    | 'waiting to retry'
    | 'waiting for files to load'
    | 'without a token';
  /** Time of the next attempt. */
  readonly dueAt: Date | null;
};

export type JobState = {
  readonly id: number;
  readonly partner: string;
  readonly seq: number;
  readonly kind: JobKind;
  readonly status: JobStatus;
  readonly isCancelled: boolean;
  readonly path: string;
  readonly failure: { readonly code: string; readonly detail: string } | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
};

export type FileState = {
  readonly id: number;
  readonly path: string;
  readonly bytes: number;
  readonly status: JobStatus;
  readonly isStaged: boolean;
  readonly attempts: number;
  readonly rows: number;
  readonly acceptedRows: number;
  readonly failure: { readonly code: string; readonly detail: string } | null;
};

/**
 * Result of canceling a job. `never started`: the job has no files and ends when the jobs ahead of it have ended.
 * `stopped`: unstaged files have failed, and the lane publishes the staged files and then ends the job. The other
 * results mean that nothing was canceled: the job had ended, a delete had started, or no files were left to cancel.
 */
export type Cancellation =
  | { readonly is: 'never started'; readonly hasEnded: boolean; readonly jobsAhead: number }
  | { readonly is: 'stopped'; readonly cancelledFiles: number; readonly otherFiles: number }
  | { readonly is: 'ended before'; readonly status: JobStatus }
  | { readonly is: 'deleting' }
  | { readonly is: 'loaded' };

/** The stored part of a partner's original request. */
export type OriginalRequest =
  | { readonly kind: 'import'; readonly request: Omit<NewImport, 'credentials'> }
  | {
      readonly kind: 'audience';
      readonly audienceId: number;
      readonly scope: AudienceScope;
      readonly filePath: string;
      /** Whether the audience was cleared after the job was submitted. */
      readonly isCleared: boolean;
    }
  | { readonly kind: 'delete' };

export type JobRequest = { readonly status: JobStatus; readonly partner: Partner; readonly original: OriginalRequest };

/** Operations that cover all partners. They are for operators only and are not available in the API. */
export interface Operations {
  /** The lane with the oldest open job comes first. */
  listLanes(limit: number): Promise<readonly LaneState[]>;
  /** Newest first. */
  listJobs(filter: {
    partner: string | null;
    statuses: readonly JobStatus[];
    limit: number;
  }): Promise<readonly JobState[]>;
  findJob(jobId: JobId, fileLimit: number): Promise<{ job: JobState; files: readonly FileState[] } | null>;
  findRequest(jobId: JobId): Promise<JobRequest | null>;
  /** Returns null if the job does not exist. Idempotent: canceling a job again returns the same result. */
  cancelJob(jobId: JobId): Promise<Cancellation | null>;
}
