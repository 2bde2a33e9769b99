import type { RejectReason } from '@inlet/row-rule/reject-reason';
import type { FailureCode } from './failure-catalogue.ts';
import type { Failure } from './failure.ts';
import type { JobStatus } from './job.ts';

/** The spec's numeric codes for import logs. */
export const pathType = { sharedBucket: 0, partnerBucket: 1 } as const;
export type PathType = (typeof pathType)[keyof typeof pathType];

export const keyType = { attributeId: 0, foreignKey: 1 } as const;
export type KeyType = (typeof keyType)[keyof typeof keyType];

export const logType = { import: 0, delete: 1 } as const;
type LogType = (typeof logType)[keyof typeof logType];

/** Decision 13: merge into what is there, or replace each attribute that the job's files name. */
export const importMode = { merge: 'merge', replace: 'replace' } as const;
export type ImportMode = (typeof importMode)[keyof typeof importMode];

/** What went wrong, or was left out, in one job: at most 100 of these stand on the record. */
export type ImportLogError = {
  readonly code: FailureCode | RejectReason;
  readonly message: string;
  readonly file: string | null;
  readonly row: number | null;
  readonly column: string | null;
  readonly count: number;
};

/** What a failure means for the job as a whole, which is no file and no row. */
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
  readonly keys: readonly string[] | null;
  readonly uniqueDevices: bigint;
  readonly totalRows: bigint;
  readonly errors: readonly ImportLogError[] | null;
  readonly progress: Progress;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export const importLogErrorLimit = 100;

/** How far a job is: from our own records, so that asking costs the engine nothing. */
export type Progress = {
  readonly bytesRead: number;
  readonly bytesTotal: number;
  readonly rowsRead: number;
  /** Open jobs of the partner before this one; 0 when it is its turn or when it has ended. */
  readonly queuePosition: number;
  /** Null while nothing can be said: before the first bytes, or while it waits. */
  readonly secondsLeft: number | null;
};

export function estimateSecondsLeft(read: { bytes: number; total: number }, secondsSoFar: number): number | null {
  if (read.total === 0 || read.bytes === 0) return null;
  return Math.ceil((secondsSoFar * (read.total - read.bytes)) / read.bytes);
}
