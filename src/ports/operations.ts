import type { JobId, PartnerId } from '../domain/ids.ts';
import type { AttemptFailure } from '../domain/attempt-failure.ts';
import type { AudienceScope } from '../domain/audience.ts';
import type { Cancellation } from '../domain/cancellation.ts';
import type { JobKind, JobStatus } from '../domain/job.ts';
import type { Partner } from '../domain/partner.ts';
import type { PartnerUsage } from '../domain/quota.ts';
import type { NewImport } from './import-log-store.ts';

/** A partner's lane that has open jobs, as operators see it. */
export type LaneState = {
  readonly partnerId: PartnerId;
  readonly partner: string;
  /** Whether an operator has suspended the partner. A job that had started still continues. */
  readonly isSuspended: boolean;
  readonly openJobs: number;
  readonly oldestJob: {
    readonly id: number;
    readonly kind: JobKind;
    readonly status: JobStatus;
    readonly since: Date;
    readonly startedAt: Date | null;
    readonly isCancelled: boolean;
    /** Whether the job has files that are not completely read. */
    readonly hasUnreadFiles: boolean;
  };
  readonly files: { readonly open: number; readonly loading: number; readonly ended: number };
  /** Whether a worker is running the lane, or what the lane is waiting for. */
  readonly is:
    | 'running'
    | 'waiting for a worker'
    | 'waiting to retry'
    | 'waiting for files to load'
    | 'without a token'
    /** The operator has suspended the partner. */
    | 'suspended';
  /** When the oldest job last finished a file or a step, or when it was submitted. */
  readonly lastProgressAt: Date;
  /** Time of the next attempt. */
  readonly dueAt: Date | null;
  /** Why the last attempt of the lane or of a file of the oldest job failed. Null if it did not fail. */
  readonly lastFailure: AttemptFailure | null;
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
  /** Whether the job has files that are not completely read. */
  readonly hasUnreadFiles: boolean;
  /** Whether the job imports from the partner's own bucket. */
  readonly isFromPartnerBucket: boolean;
  /** Whether the job's audience was cleared after the job was submitted. */
  readonly isCleared: boolean;
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

/** The result of canceling a job, with its place in the lane. */
export type OperatorCancellation =
  | Exclude<Cancellation, { readonly is: 'never started' }>
  | { readonly is: 'never started'; readonly hasEnded: boolean; readonly jobsAhead: number };

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

/** Reads that cover all partners. */
export interface JobReads {
  /** The lane with the oldest open job comes first. Lists only lanes whose oldest job has a higher ID than the given one. */
  listLanes(page: { readonly afterJobId: number; readonly limit: number }): Promise<readonly LaneState[]>;
  /** Newest first. */
  listJobs(filter: {
    readonly partner: string | null;
    readonly statuses: readonly JobStatus[];
    readonly beforeId: number;
    readonly limit: number;
  }): Promise<readonly JobState[]>;
  findJob(jobId: JobId, fileLimit: number): Promise<{ job: JobState; files: readonly FileState[] } | null>;
}

/** Operations that cover all partners. They are for operators only and are not available in the API. */
export interface Operations extends JobReads {
  findRequest(jobId: JobId): Promise<JobRequest | null>;
  /** Returns null if the job does not exist. Idempotent: canceling a job again returns the same result. */
  cancelJob(jobId: JobId): Promise<OperatorCancellation | null>;
}

/** A partner, as operators see it. */
export type PartnerState = {
  readonly id: PartnerId;
  readonly name: string;
  readonly createdAt: Date;
  readonly suspendedAt: Date | null;
  /** An attribute of a device is removed if no import has published it for this many days. Null keeps it. */
  readonly deviceDays: number | null;
  readonly openJobs: number;
  readonly apiKeys: {
    /** Keys that are neither revoked nor expired. */
    readonly valid: number;
    readonly all: number;
  };
  /** When a key was last used or a job was last submitted. Null if neither has happened. */
  readonly lastActiveAt: Date | null;
  readonly usage: PartnerUsage;
};

export interface PartnerReads {
  /** By ID. */
  listPartners(page: { readonly afterId: number; readonly limit: number }): Promise<readonly PartnerState[]>;
}

/** How long work has been waiting, for the whole installation. */
export type Waits = {
  readonly workers: number;
  readonly lanesWithoutToken: number;
  readonly silentSeconds: number;
  readonly oldestPendingSeconds: number;
  readonly oldestIndexChangeSeconds: number;
  readonly oldestReportRequestSeconds: number;
  readonly oldestWebhookEventSeconds: number;
  readonly oldestErasureSeconds: number;
  readonly dropFetchSeconds: number;
  readonly dropCycleSeconds: number;
};

/** Everything that the operator API reads from PostgreSQL. */
export interface OperatorReads extends JobReads, PartnerReads {
  /** Whether a backup is pausing publishing. */
  isPaused(): Promise<boolean>;
  readWaits(): Promise<Waits>;
}
