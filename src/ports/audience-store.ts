import type { JobId, PartnerId } from '../domain/ids.ts';
import type { Audience, AudienceScope } from '../domain/audience.ts';
import type { CompositionCounts, Counting } from '../domain/composition/counts.ts';
import type { FailureCode } from '../domain/failure-catalogue.ts';
import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { JobStatus } from '../domain/job.ts';
import type { FilePage, LoadedFile, RecordMark } from './records.ts';
import type { Generation, WarehouseAttribute } from './warehouse.ts';

/** The newest entry for one path of an audience, as its partner sees it. */
export type AudienceFile = {
  readonly s3Path: string;
  readonly status: JobStatus;
  readonly rowsUploaded: number;
  readonly updatedAt: Date;
};

/** A load that failed before its files were listed. */
export type FailedLoad = {
  readonly jobId: JobId;
  readonly path: string;
  readonly failure: { readonly code: FailureCode; readonly detail: string };
};

/** A cleared generation whose rows may still be in the engine. */
export type DeadGeneration = Generation & {
  readonly deadAt: Date;
  readonly purgedRows: number;
  readonly purgedAt: Date | null;
};

export type NewAudienceLoad = { readonly filePath: string; readonly maxOpenJobs: number };

export interface AudienceStore {
  /** Creates the audience and the job that loads its first files, in one transaction. */
  create(
    scope: AudienceScope,
    audience: NewAudienceLoad & { readonly name: string },
    idempotency?: IdempotentRequest | null,
  ): Promise<{ readonly audienceId: number; readonly warehouseSegmentId: number }>;
  /** Returns the job's ID, or null when the scope has no such audience. */
  append(
    scope: AudienceScope,
    audienceId: number,
    load: NewAudienceLoad,
    idempotency?: IdempotentRequest | null,
  ): Promise<number | null>;
  /** Starts an empty generation and cancels the audience's open jobs. Returns false when the scope has no such audience. */
  clear(scope: AudienceScope, audienceId: number, idempotency?: IdempotentRequest | null): Promise<boolean>;
  find(scope: AudienceScope, audienceId: number): Promise<Audience | null>;
  /** Marks of audiences of any partner, including their files. Omits audiences that do not exist. */
  marksOf(audienceIds: readonly number[]): Promise<readonly RecordMark[]>;
  /** Audiences before the given ID, newest first. */
  list(scope: AudienceScope, page: { readonly beforeId: number; readonly limit: number }): Promise<readonly Audience[]>;
  /** The audience with at most `limit` files of the live generation, in submission order. */
  findWithFiles(
    scope: AudienceScope,
    audienceId: number,
    limit: number,
  ): Promise<{ readonly audience: Audience; readonly files: readonly AudienceFile[] } | null>;
  /** The files of the live generation, with their failures. */
  listLoadedFiles(scope: AudienceScope, audienceId: number, page: FilePage): Promise<readonly LoadedFile[]>;
  /** Failed loads of the live generation that are not superseded, in submission order. */
  listFailedLoads(
    scope: AudienceScope,
    audienceId: number,
    page: { readonly afterId: number; readonly limit: number },
  ): Promise<readonly FailedLoad[]>;
  /**
   * Claims dead generations of any partner that are due. Claims none while another process holds a claim. A claim
   * expires two minutes after it was last renewed.
   */
  claimDueGenerations(limit: number): Promise<readonly DeadGeneration[]>;
  renewPurgeLease(partnerIds: readonly PartnerId[]): Promise<void>;
  /** Releases the claim. The partners' next purge waits for a multiple of these seconds. */
  endPurge(partnerIds: readonly PartnerId[], seconds: number): Promise<void>;
  /** Dead generations, newest first, for the operator. */
  listDead(limit: number): Promise<readonly DeadGeneration[]>;
  /** Records the removed rows. The generation is checked once more later and is then done. */
  recordPurge(generation: Generation, rows: number): Promise<void>;
}

/** The state of an audience after one load. Counts of an earlier state are stale. */
export type AudienceState = Generation & { readonly lastLoadId: number };

export type StoredCounts = { readonly counts: CompositionCounts; readonly computedAt: Date };

export interface CompositionStore {
  /** Returns null when the scope has no such segment. */
  findAudience(scope: AudienceScope, warehouseSegmentId: number): Promise<AudienceState | null>;
  /** Returns null when nothing is stored for this state. */
  find(audience: AudienceState, counting: Counting): Promise<StoredCounts | null>;
  /** Stores the counts, unless counts of the same or a later state are stored. */
  save(audience: AudienceState, counting: Counting, stored: StoredCounts): Promise<void>;
  /**
   * Runs the function and returns its result. Returns null if any process is already running it for this audience and
   * counting method.
   */
  runAlone<T>(audience: AudienceState, counting: Counting, run: () => Promise<T>): Promise<T | null>;
  /** Attributes of all partners, including retired ones. */
  listAttributes(): Promise<readonly WarehouseAttribute[]>;
  nameAttributes(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
}
