import type { JobId, PartnerId } from '../domain/ids.ts';
import type { Audience, AudienceScope } from '../domain/audience.ts';
import type { CompositionCounts, Counting } from '../domain/composition/counts.ts';
import type { FailureCode } from '../domain/failure-catalogue.ts';
import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { JobStatus } from '../domain/job.ts';
import type { FilePage, LoadedFile, RecordMark } from './records.ts';
import type { Generation, WarehouseAttribute } from './warehouse.ts';

/** One path of an audience, as its partner sees it: the newest that was asked for this path. */
export type AudienceFile = {
  readonly s3Path: string;
  readonly status: JobStatus;
  readonly rowsUploaded: number;
  readonly updatedAt: Date;
};

/** What was asked for and failed before it had any files. */
export type FailedLoad = {
  readonly jobId: JobId;
  readonly path: string;
  readonly failure: { readonly code: FailureCode; readonly detail: string };
};

/** A clear that left something in the engine. */
export type DeadGeneration = Generation & {
  readonly deadAt: Date;
  readonly purgedRows: number;
  readonly purgedAt: Date | null;
};

export type NewAudienceLoad = { readonly filePath: string; readonly maxOpenJobs: number };

export interface AudienceStore {
  /** Makes the audience and the job that loads its first files, in one transaction. */
  create(
    scope: AudienceScope,
    audience: NewAudienceLoad & { readonly name: string },
    idempotency?: IdempotentRequest | null,
  ): Promise<{ readonly audienceId: number; readonly warehouseSegmentId: number }>;
  /** Gives the id of the job; null when there is no such audience in the scope. */
  append(
    scope: AudienceScope,
    audienceId: number,
    load: NewAudienceLoad,
    idempotency?: IdempotentRequest | null,
  ): Promise<number | null>;
  /** A new generation: counts and files begin empty, open jobs of the audience are cancelled. False as null above. */
  clear(scope: AudienceScope, audienceId: number, idempotency?: IdempotentRequest | null): Promise<boolean>;
  find(scope: AudienceScope, audienceId: number): Promise<Audience | null>;
  /** Of audiences of whatever partners, with their files; those that do not exist are left out. */
  marksOf(audienceIds: readonly number[]): Promise<readonly RecordMark[]>;
  /** Newest first, those before the given id. */
  list(scope: AudienceScope, page: { readonly beforeId: number; readonly limit: number }): Promise<readonly Audience[]>;
  /** With the files of the live generation, in the order in which they were asked for; `limit` at the most. */
  findWithFiles(
    scope: AudienceScope,
    audienceId: number,
    limit: number,
  ): Promise<{ readonly audience: Audience; readonly files: readonly AudienceFile[] } | null>;
  /** The same with everything that is known of why they failed. */
  listLoadedFiles(scope: AudienceScope, audienceId: number, page: FilePage): Promise<readonly LoadedFile[]>;
  /** Those of the live generation that are shown, in the order in which they were asked for. */
  listFailedLoads(
    scope: AudienceScope,
    audienceId: number,
    page: { readonly afterId: number; readonly limit: number },
  ): Promise<readonly FailedLoad[]>;
  /**
   * Takes dead generations whose time to be looked at has come, of whatever partners; none while somebody else has some.
   * Whoever takes them and is not heard of for two minutes is believed dead.
   */
  claimDueGenerations(limit: number): Promise<readonly DeadGeneration[]>;
  renewPurgeLease(partnerIds: readonly PartnerId[]): Promise<void>;
  /** Gives them back. The partners' next purge comes after a pause that is long beside these seconds. */
  endPurge(partnerIds: readonly PartnerId[], seconds: number): Promise<void>;
  /** Dead generations, newest first, for the operator. */
  listDead(limit: number): Promise<readonly DeadGeneration[]>;
  /** So many rows of it were removed; it is looked at once more later, and then it is done. */
  recordPurge(generation: Generation, rows: number): Promise<void>;
}

/** An audience as it was after one load; the counts of an earlier state are of no use. */
export type AudienceState = Generation & { readonly lastLoadId: number };

export type StoredCounts = { readonly counts: CompositionCounts; readonly computedAt: Date };

export interface CompositionStore {
  /** Null when there is no such segment in the scope. */
  findAudience(scope: AudienceScope, warehouseSegmentId: number): Promise<AudienceState | null>;
  /** Null when nothing was computed for this state. */
  find(audience: AudienceState, counting: Counting): Promise<StoredCounts | null>;
  /** Keeps the counts, unless those of a later state are there already. */
  save(audience: AudienceState, counting: Counting, stored: StoredCounts): Promise<void>;
  /** Runs it as the only one in the whole fleet for this audience and counting; null when somebody else is at it. */
  runAlone<T>(audience: AudienceState, counting: Counting, run: () => Promise<T>): Promise<T | null>;
  /** Those of all partners, retired ones too. */
  listAttributes(): Promise<readonly WarehouseAttribute[]>;
  nameAttributes(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
}
