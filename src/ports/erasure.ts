import type { Readable } from 'node:stream';
import type {
  ErasedRows,
  Erasure,
  ErasureSource,
  ErasureStep,
  ErasureWait,
  FinishedErasure,
  ProofSignature,
  RemainingRows,
  SignedProof,
} from '../domain/erasure.ts';
import type { FailureCode } from '../domain/failure-catalog.ts';
import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { ErasureFilter } from '../domain/list-filters.ts';
import type { Fold } from './device-index.ts';

export type NewErasure = {
  readonly requestedBy: string;
  readonly source: { readonly ids: readonly string[] } | { readonly objectKey: string };
};

type ErasurePage = { readonly beforeId: number; readonly limit: number; readonly filter: ErasureFilter };

/** Partners' requests. */
export interface ErasureStore {
  /** Throws `too_many_open_jobs` above the limit of open requests. Returns the ID of the request. */
  request(partnerId: PartnerId, erasure: NewErasure, idempotency: IdempotentRequest | null): Promise<number>;
  /** Returns a page of the partner's requests, newest first. */
  list(partnerId: PartnerId, page: ErasurePage): Promise<readonly Erasure[]>;
  find(partnerId: PartnerId, id: number): Promise<Erasure | null>;
  /** Returns null if the request does not exist or has no proof yet. */
  findProof(partnerId: PartnerId, id: number): Promise<StoredProof | null>;
}

export type StoredProof = { readonly proof: SignedProof; readonly csv: string };

/**
 * The devices in a batch, either for all partners (null) or only for these partners. `listId` is the number under which the engine
 * keeps the list. Whoever writes the list again uses a new number, so that a worker that lost its claim cannot change it.
 */
export type BatchScope = { readonly listId: number; readonly partnerIds: readonly PartnerId[] | null };

export type ClaimedBatch = BatchScope & {
  readonly id: number;
  readonly claim: number;
  readonly step: ErasureStep;
  readonly rounds: number;
  readonly lastLoadId: number;
  readonly firstFoldId: number | null;
  readonly erased: readonly ErasedRows[];
  readonly remaining: readonly RemainingRows[];
  readonly startedAt: Date;
  readonly erasedAt: Date | null;
};

/** A request of a batch whose list has to be written. Operators' commands write their lists themselves. */
export type ListedErasure = FinishedErasure & {
  readonly source: ErasureSource;
};

/** `digest` is the SHA-256 digest of the salt and the file as it is stored, or of the salt and the IDs of a request. */
export type IdList = {
  readonly ids: number;
  readonly invalidLines: number;
  readonly salt: string;
  readonly digest: string;
};

export type BatchChange = {
  readonly step: ErasureStep;
  readonly rounds?: number;
  readonly firstFoldId?: number;
  /** Gives the list a new number. */
  readonly isNewList?: boolean;
  /** Loads that have started by now count as earlier loads. */
  readonly includesNewLoads?: boolean;
  readonly erased?: readonly ErasedRows[];
  readonly remaining?: readonly RemainingRows[];
  /** Records that no row remained. */
  readonly isErased?: boolean;
};

/** Erasure batches. One batch runs at a time. */
export interface ErasureQueue {
  /** Continues the open batch if no worker holds it, or starts one with all requests that wait. */
  claim(leaseSeconds: number): Promise<ClaimedBatch | null>;
  /** Returns false if the claim was lost. */
  renew(batch: ClaimedBatch, leaseSeconds: number): Promise<boolean>;
  /** Returns the batch at its next step. Throws if the claim was lost. */
  advance(batch: ClaimedBatch, change: BatchChange): Promise<ClaimedBatch>;
  /** Releases the claim. The batch continues after this many seconds. */
  postpone(batch: ClaimedBatch, seconds: number, waitingFor: ErasureWait | null): Promise<void>;
  listRequests(batch: ClaimedBatch): Promise<readonly ListedErasure[]>;
  recordList(batch: ClaimedBatch, id: number, list: IdList): Promise<void>;
  /** Ends a request without erasing its devices. */
  fail(
    batch: ClaimedBatch,
    id: number,
    failure: { readonly code: FailureCode; readonly detail: string },
  ): Promise<void>;
  /** Returns the numbers of the lists of all open batches. */
  findOpenLists(): Promise<readonly number[]>;
  /**
   * Counts the loads of the batch's partners that have not been published, up to the last load that counts as earlier
   * than the batch.
   */
  countOpenLoads(batch: ClaimedBatch): Promise<number>;
  /** Returns the partner of each file. Omits files whose records have been removed. */
  ownersOf(fileIds: readonly number[]): Promise<ReadonlyMap<number, PartnerId>>;
  /** Adds the rows to be erased to each partner's total of erased rows, before any row is erased. */
  noteErased(found: readonly { readonly partnerId: PartnerId; readonly rows: number }[]): Promise<void>;
  /** Stores the proofs, wipes the sealed IDs, and ends the batch and its requests. */
  finish(
    batch: ClaimedBatch,
    finishedAt: Date,
    proofs: readonly { readonly id: number; readonly proof: SignedProof; readonly csv: string }[],
  ): Promise<void>;
}

/** Operators' requests, which erase the devices of all partners. */
export interface OperatorErasures {
  /** Starts a batch whose list the command writes. No worker claims it until the list is complete. */
  begin(requestedBy: string): Promise<{ readonly id: number; readonly listId: number }>;
  complete(id: number, list: IdList): Promise<void>;
  /** Ends a request whose list could not be written. */
  abandon(id: number, detail: string): Promise<void>;
  /** Lists the newest requests from operators and partners. */
  list(limit: number): Promise<readonly ListedByOperator[]>;
  findProof(id: number): Promise<StoredProof | null>;
}

export type ListedByOperator = Erasure & { readonly partner: string | null; readonly step: ErasureStep | null };

/** Erases rows in the engine. Every method can be repeated. */
export interface ErasureEngine {
  findLists(): Promise<readonly number[]>;
  dropList(listId: number): Promise<void>;
  /** Adds devices to the list on every shard. */
  addIds(listId: number, partnerId: PartnerId | null, ids: readonly string[]): Promise<void>;
  /** Adds the devices of a file with one ID per line. Throws a final `Failure` if the file cannot be a list. */
  addFile(listId: number, partnerId: PartnerId | null, file: IdFile, signal: AbortSignal): Promise<IdList>;
  /** Counts the listed devices on each shard. */
  countListed(listId: number): Promise<readonly number[]>;
  /** Finds rejected lines that contain a listed device. */
  findRejects(scope: BatchScope, lastLoadId: number, ownersOf: ErasureQueue['ownersOf']): Promise<void>;
  countRows(scope: BatchScope): Promise<readonly ErasedRows[]>;
  eraseRows(scope: BatchScope, signal: AbortSignal): Promise<void>;
  /** Waits for statements that are running now and write devices, because they can have read the erased rows. */
  untilWritten(signal: AbortSignal): Promise<void>;
  /** Counts staged rows of loads up to this one. */
  countStaged(scope: BatchScope, lastLoadId: number): Promise<number>;
  /** Counts the remaining rows on every replica. Throws if a replica is unavailable. */
  countRemaining(scope: BatchScope): Promise<readonly RemainingRows[]>;
  /** Deletes the files of replaced parts that have reached their lifetime. */
  removeReplacedParts(): Promise<void>;
  /** Counts parts that were replaced before this time and whose files still exist, on every replica. */
  countReplacedParts(before: Date): Promise<number>;
  countDetachedParts(): Promise<number>;
  /** Removes the devices from the known devices, except devices that another partner holds. */
  eraseKnownDevices(scope: BatchScope, signal: AbortSignal): Promise<void>;
  /** Removes the devices from the device index, after they were removed from the known devices. The caller holds the lease. */
  eraseFromIndex(
    scope: BatchScope,
    folds: { readonly everywhere: Fold; readonly ofPartners: Fold },
    signal: AbortSignal,
  ): Promise<void>;
  /** What the index contains since this fold. */
  listFolded(firstFoldId: number): Promise<ErasedFolds>;
  /** Listed devices that were imported again while they were being erased. */
  findImportedAgain(scope: BatchScope): Promise<ImportedAgain>;
}

export type ErasedFolds = {
  readonly partners: readonly { readonly partnerId: PartnerId; readonly foldId: number }[];
  readonly audiences: readonly {
    readonly audienceId: number;
    readonly generation: number;
    readonly foldId: number;
    readonly devices: number;
  }[];
};

export type ImportedAgain = {
  readonly attributes: readonly { readonly partnerId: PartnerId; readonly attributeId: number }[];
  readonly audiences: readonly { readonly partnerId: PartnerId; readonly audienceId: number }[];
};

/** Records what an erasure changed in the device index. */
export interface ErasureIndexStore {
  recordErased(folded: ErasedFolds, again: ImportedAgain): Promise<void>;
}

/** A file with one ID per line. */
export type IdFile = { readonly body: Readable; readonly isGzip: boolean };

/** Signs proofs. */
export interface ProofSigner {
  /** SHA-256, in hexadecimal. */
  digest(text: string): string;
  /** Null if no key is configured. */
  sign(proof: object): ProofSignature | null;
}
