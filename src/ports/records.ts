import type { LoadId, PartnerId } from '../domain/ids.ts';
import type { FailureCode } from '../domain/failure-catalog.ts';
import type { JobStatus } from '../domain/job.ts';
import type { ErrorFilter, FileFilter } from '../domain/list-filters.ts';

/** `mark` changes whenever the record changes. It contains none of the record's data. */
export type RecordMark = { readonly id: number; readonly isFinal: boolean; readonly mark: string };

/**
 * Reports within milliseconds which partner's data has changed. It may miss changes while its connection is down.
 */
export interface ChangeFeed {
  /**
   * Calls `onChange` with the partner, or with null if changes to any partner's data may have been missed. The first
   * subscriber starts the listener.
   */
  subscribe(onChange: (partnerId: PartnerId | null) => void): void;
  isListening(): boolean;
}

/** One file of a job, as shown to its partner. */
export type LoadedFile = {
  readonly id: number;
  readonly path: string;
  readonly status: JobStatus;
  readonly totalRows: number;
  readonly rejectedRows: number;
  /** Distinct devices on the suppression list. */
  readonly suppressed: number;
  readonly bytes: number;
  readonly bytesRead: number;
  readonly failure: { readonly code: FailureCode; readonly detail: string } | null;
  readonly loadId: LoadId | null;
  /** Null if an earlier release listed the file. */
  readonly lastModified: Date | null;
  readonly updatedAt: Date;
};

export type FilePage = FileFilter & {
  readonly afterId: number;
  readonly limit: number;
  /** Lists only failed files and files with rejected rows. */
  readonly onlyWithErrors: boolean;
  /** Lists only files with such an error. */
  readonly error?: ErrorFilter | undefined;
};
