import type { LoadId, PartnerId } from '../domain/ids.ts';
import type { FailureCode } from '../domain/failure-catalogue.ts';
import type { JobStatus } from '../domain/job.ts';

/** Another one when the record is another, and whether it has reached a final status. No data of the record is in it. */
export type RecordMark = { readonly id: number; readonly isFinal: boolean; readonly mark: string };

/** Tells whose records have changed, some milliseconds later. It may miss some while it does not hear. */
export interface ChangeFeed {
  /** Null: whatever may have been missed, of anybody. With the first subscriber it begins to listen. */
  subscribe(onChange: (partnerId: PartnerId | null) => void): void;
  isListening(): boolean;
}

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
  readonly loadId: LoadId | null;
  readonly updatedAt: Date;
};

export type FilePage = { readonly afterId: number; readonly limit: number; readonly onlyWithErrors: boolean };
