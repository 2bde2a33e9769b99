import type { RejectReason } from '@inlet/row-rule/row-rule';
import type { CancelRequest } from './cancellation.ts';
import type { FailureCode } from './failure-catalog.ts';
import type { Failure } from './failure.ts';
import type { JobStatus, Progress } from './job.ts';

/** The spec's numeric codes for import logs. */
export const pathType = { sharedBucket: 0, partnerBucket: 1 } as const;
export type PathType = (typeof pathType)[keyof typeof pathType];

export const keyType = { attributeId: 0, foreignKey: 1 } as const;
export type KeyType = (typeof keyType)[keyof typeof keyType];

export const logType = { import: 0, delete: 1 } as const;
type LogType = (typeof logType)[keyof typeof logType];

/** Decision 13: merge with the existing data, or replace all data of every attribute in the job's files. */
export const importMode = { merge: 'merge', replace: 'replace' } as const;
export type ImportMode = (typeof importMode)[keyof typeof importMode];

/** A failure or a group of rejected rows. A record lists at most 100 of these entries. */
export type ImportLogError = {
  readonly code: FailureCode | RejectReason;
  readonly message: string;
  readonly file: string | null;
  readonly row: number | null;
  readonly column: string | null;
  readonly count: number;
};

/** A failure of the whole job, not of one file or row. */
export function errorOfJob({ code, detail }: Failure, count = 1): ImportLogError {
  return { code, message: detail, file: null, row: null, column: null, count };
}

export type ImportLog = {
  readonly importLogId: number;
  readonly filePath: string;
  readonly pathType: PathType;
  readonly keyType: KeyType;
  readonly status: JobStatus;
  readonly logType: LogType;
  /** Null for a delete. */
  readonly mode: ImportMode | null;
  readonly keys: readonly string[] | null;
  readonly uniqueDevices: bigint;
  readonly totalRows: bigint;
  /** The suppressed rows as partners see them: the sum over the files. */
  readonly suppressed: number;
  readonly errors: readonly ImportLogError[] | null;
  readonly progress: Progress;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelRequest: CancelRequest | null;
  /**
   * Names the API key or the user, such as "key 12". Null for an operator, and for an import that a subscription
   * created.
   */
  readonly requestedBy: string | null;
  /** The import that this one repeats. */
  readonly retryOf: number | null;
  /** The subscription that created this import. */
  readonly subscriptionId: number | null;
};

export const importLogErrorLimit = 100;
