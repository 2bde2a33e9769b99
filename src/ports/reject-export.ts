import type { ResolvedKey } from '../domain/attribute.ts';
import type { CustomerShare } from '../domain/customer-share.ts';
import type { FailureCode } from '../domain/failure-catalog.ts';
import type { JobId, PartnerId } from '../domain/ids.ts';
import type { KeyType } from '../domain/import-log.ts';
import type { JobStatus } from '../domain/job.ts';
import type { BucketCredentials } from '../domain/partner-bucket.ts';
import type { Readable } from 'node:stream';
import type { LoadTarget, StreamedFile } from './load-stage.ts';
import type { JobSource, StoredObject } from './object-store.ts';

/** All files of an import, or one audience file. */
export type ExportSubject = { readonly importLogId: JobId } | { readonly fileId: number };

type ExportFailure = { readonly code: FailureCode; readonly detail: string };

export type RejectExport = {
  readonly status: JobStatus;
  readonly files: { readonly total: number; readonly done: number; readonly failed: number };
  readonly bytesRead: number;
  readonly bytesTotal: number;
  /** Rejected rows in the objects that are complete. */
  readonly rows: number;
  readonly failure: ExportFailure | null;
  readonly requestedAt: Date;
  readonly finishedAt: Date | null;
  readonly expiresAt: Date | null;
};

export type ExportedFile = {
  readonly fileId: number;
  readonly path: string;
  readonly status: JobStatus;
  readonly rows: number;
  /** Null until the object is complete. */
  readonly object: { readonly key: string; readonly bytes: number } | null;
  readonly failure: ExportFailure | null;
};

/** Exports as their partner sees them. */
export interface RejectExportStore {
  /**
   * Queues the export, unless it is open, or done and not expired. An export that failed runs again for the files that
   * are not complete. Fails with `too_many_open_jobs` above the limit of open exports.
   */
  request(
    partnerId: PartnerId,
    subject: ExportSubject,
    request: {
      readonly folder: string;
      readonly credentials: BucketCredentials | null;
      readonly maxOpen: number;
      /** For a file of a customer's audience: how many exports of that customer's audiences can be open. */
      readonly share: CustomerShare | null;
    },
  ): Promise<void>;
  find(partnerId: PartnerId, subject: ExportSubject): Promise<RejectExport | null>;
  /** Lists the files with rejected rows by ID. The list is empty until the export starts. */
  listFiles(
    partnerId: PartnerId,
    subject: ExportSubject,
    page: { readonly afterId: number; readonly limit: number },
  ): Promise<readonly ExportedFile[]>;
}

/** An export that one worker holds until its lease ends. */
export type ClaimedExport = {
  readonly exportId: number;
  readonly attempt: number;
  /** Number of counted attempts since the export was requested, or since its last turn ended, including this one. */
  readonly tries: number;
  /** Seconds since the export was requested. */
  readonly openSeconds: number;
  readonly partnerId: PartnerId;
  readonly folder: string;
  /** True if nothing but the removal of the objects is left. */
  readonly isExpired: boolean;
  /** True if objects of an earlier export may be in the folder. */
  readonly isNew: boolean;
  readonly source: JobSource;
  /** Null for an audience file, which has no keys. */
  readonly keyType: KeyType | null;
  /** Whether the partner may send IDs without hyphens. */
  readonly unhyphenatedIds: boolean;
};

export type FileToExport = { readonly fileId: number; readonly path: string; readonly object: StoredObject };

export type ExportOutcome =
  | { readonly is: 'done'; readonly key: string; readonly bytes: number; readonly rows: number }
  | { readonly is: 'failed'; readonly failure: ExportFailure };

/** The queue of exports. It is independent of the lanes. */
export interface RejectExportQueue {
  /**
   * Claims a due export of a partner that has no other running export: the one that has waited the longest since it was
   * requested, or since its partner's last turn ended.
   */
  claim(leaseSeconds: number): Promise<ClaimedExport | null>;
  /** Lists the files of the export, whether or not they are complete. The list is empty before the first start. */
  listFiles(claim: ClaimedExport): Promise<readonly Pick<FileToExport, 'fileId' | 'path'>[]>;
  /** Returns the files that are not complete. */
  start(claim: ClaimedExport): Promise<readonly FileToExport[]>;
  /** Whether an export of another partner is due. */
  isOtherDue(claim: ClaimedExport): Promise<boolean>;
  /** Releases the claim. All exports of the partner then wait behind those of other partners. */
  endTurn(claim: ClaimedExport): Promise<void>;
  /** Records progress and extends the lease. Returns false if the claim was lost, or if the export was ended. */
  renew(
    claim: ClaimedExport,
    leaseSeconds: number,
    read: { readonly fileId: number; readonly bytes: number } | null,
  ): Promise<boolean>;
  /** Returns false if the claim was lost, or if the export was ended. */
  commitFile(claim: ClaimedExport, file: FileToExport, outcome: ExportOutcome): Promise<boolean>;
  /** Ends the export and the partner's turn, and deletes the credentials. Without a failure, the export fails if one of its files failed. */
  finish(claim: ClaimedExport, failure: ExportFailure | null, days: number): Promise<void>;
  /**
   * Releases the claim. The next attempt starts after this time. The attempt is included in `tries` only if it
   * `counts`.
   */
  postpone(claim: ClaimedExport, seconds: number, attempt: { readonly counts: boolean }): Promise<void>;
  /** Removes an expired export, unless it was requested again. */
  remove(claim: ClaimedExport): Promise<void>;
}

/** Reads files in ClickHouse and keeps only their rejected rows. */
export interface RejectReader {
  /** Drops what an earlier attempt left. The keys are null for audience files. */
  open(
    claim: Pick<ClaimedExport, 'exportId' | 'attempt'>,
    kind: LoadTarget['kind'],
    keys: readonly ResolvedKey[] | null,
  ): Promise<OpenRejects>;
  /** Drops the tables of the export. */
  drop(exportId: number): Promise<void>;
  /** Drops the tables of this attempt. Another worker can have the tables of a later one. */
  dropAttempt(claim: Pick<ClaimedExport, 'exportId' | 'attempt'>): Promise<void>;
}

export type OpenRejects = {
  /** Returns the number of rejected rows. */
  readonly read: (file: StreamedFile, maxLineBytes: number, signal: AbortSignal) => Promise<number>;
  /** Returns the rejected rows of a file as gzipped CSV, ordered by row. */
  readonly toCsv: (file: { readonly fileId: number; readonly path: string }, signal: AbortSignal) => Promise<Readable>;
  readonly forget: (fileId: number) => Promise<void>;
};

/** The objects of exports in the shared bucket. */
export interface RejectStorage {
  /** Stores the object, completely or not at all, and returns its size. */
  write(key: string, body: Readable, signal: AbortSignal): Promise<number>;
  /** Removes the objects whose key starts with the prefix and is accepted. */
  remove(prefix: string, isRemoved: (key: string) => boolean, signal: AbortSignal): Promise<void>;
  /** Returns a URL that downloads the object without credentials. */
  urlOf(key: string, seconds: number): Promise<string>;
}
