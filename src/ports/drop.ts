import type { Readable } from 'node:stream';
import type { CyclePolicy, DropPolicy } from '../domain/drop-policy.ts';
import type { DropStep, DropWait, ListFile } from '../domain/drop.ts';
import type { SignedDropProof } from '../domain/drop-proof.ts';
import type { ErasedRows, RemainingRows } from '../domain/erasure.ts';

/** A DROP response that does not end the request. The request is tried again later. */
export type DropDelay = {
  readonly is: 'delayed';
  readonly reason: Extract<DropWait, 'archive' | 'previous_batch' | 'drop'>;
  /** Null if DROP does not specify a time. */
  readonly retryAfterSeconds: number | null;
  readonly message: string;
  /** Whether the request may have taken effect, because its response was lost or the server failed. */
  readonly isUncertain: boolean;
};

export type DownloadResult =
  /** Any other content, which is an archive unless a proxy has answered. The name is null if DROP gives none. */
  | { readonly is: 'content'; readonly name: string | null; readonly body: Readable }
  | { readonly is: 'nothing_new' }
  | DropDelay;

export type UploadResult =
  | { readonly is: 'accepted'; readonly message: string }
  /** DROP has not accepted the file, now or earlier, unless the message says that it has. */
  | { readonly is: 'rejected'; readonly message: string }
  /** DROP is not waiting for answers. */
  | { readonly is: 'no_batch'; readonly message: string }
  | DropDelay;

/** The DROP API. Throws a final `Failure` if the API key or the request is refused. */
export interface DropApi {
  download(signal: AbortSignal): Promise<DownloadResult>;
  upload(file: { readonly name: string; readonly content: Buffer }, signal: AbortSignal): Promise<UploadResult>;
  amend(file: { readonly name: string; readonly content: Buffer }, signal: AbortSignal): Promise<UploadResult>;
}

type Archive = { readonly name: string; readonly bytes: number; readonly sha256: string };
export type StoredArchive = Archive & { readonly key: string };

/** An archive on the local disk. */
export type SpooledArchive = Archive & { readonly path: string; readonly receivedAt: Date };

/**
 * Keeps an archive on the local disk until it is in the object storage, because DROP delivers it once. An archive that
 * an interrupted command has received completely is found again.
 */
export interface ArchiveSpool {
  find(): Promise<SpooledArchive | null>;
  /** Throws if the content is not an archive. The content is kept anyway. */
  save(name: string | null, body: Readable, receivedAt?: Date): Promise<SpooledArchive>;
  remove(archive: SpooledArchive): Promise<void>;
}

/** A copy of a stored archive on the local disk, whose lists can be read several times. */
export interface OpenArchive {
  readonly names: readonly string[];
  /** Throws if the content does not have its recorded checksum or size. */
  open(name: string): Promise<Readable>;
  close(): Promise<void>;
}

/** The operator's object storage. Objects are written once. */
export interface DropStorage {
  /** Stores the archive, unless it is already stored. Throws if another one has the key. */
  keepArchive(key: string, archive: SpooledArchive): Promise<void>;
  openArchive(archive: StoredArchive): Promise<OpenArchive>;
  /** Stores the file, unless it is already stored. Throws if another one has the key. */
  keepFile(key: string, content: Buffer, sha256: string): Promise<void>;
  readFile(key: string): Promise<Buffer>;
}

export type ReadList = ListFile & {
  readonly items: number;
  /** Lines that are not an ID and a hash. They cannot be answered. */
  readonly invalidLines: number;
};

export type DropUpload = {
  readonly name: string;
  readonly isAmendment: boolean;
  readonly key: string;
  readonly items: number;
  readonly bytes: number;
  readonly sha256: string;
  /** The first attempt that may have taken effect without a response. Null if there is none. */
  readonly sentAt: Date | null;
  readonly acceptedAt: Date | null;
  /** A refused file is not sent again. */
  readonly isRefused: boolean;
  /** The receipt, or why the file was refused. */
  readonly message: string | null;
};

export type NewUpload = Pick<DropUpload, 'name' | 'isAmendment' | 'key' | 'items' | 'bytes' | 'sha256'>;

/** The list of devices that workers erase, as it is recorded with the erasure. */
type ErasureList = { readonly id: number; readonly listId: number; readonly devices: number };

export type DropCycle = {
  readonly id: number;
  readonly step: DropStep;
  readonly waitingFor: DropWait | null;
  readonly failure: string | null;
  readonly archive: StoredArchive | null;
  readonly policy: CyclePolicy | null;
  readonly lists: readonly ReadList[];
  /**
   * Devices that were listed for erasure, across all rounds. After a failed erasure, the search finds its devices
   * again.
   */
  readonly devicesFound: number;
  readonly erasureIds: readonly number[];
  readonly erasureList: ErasureList | null;
  readonly remaining: readonly RemainingRows[];
  readonly statuses: Readonly<Record<string, number>>;
  readonly startedAt: Date;
  readonly downloadedAt: Date | null;
  readonly verifiedAt: Date | null;
  readonly finishedAt: Date | null;
};

export type ClaimedCycle = DropCycle & { readonly claim: number };

export type CycleChange = {
  readonly step: DropStep;
  /** Recorded together with the fetch. */
  readonly archive?: StoredArchive;
  /** When the archive was received. The deadline counts from the first archive of the cycle. */
  readonly receivedAt?: Date;
  readonly policy?: CyclePolicy;
  readonly lists?: readonly ReadList[];
  readonly erasureList?: ErasureList;
  /** Its devices are no longer counted. */
  readonly failedErasure?: ErasureList;
  readonly remaining?: readonly RemainingRows[];
  readonly isVerified?: boolean;
  readonly statuses?: Readonly<Record<string, number>>;
  readonly uploads?: readonly NewUpload[];
  /** A file that DROP has refused, and why. */
  readonly refused?: { readonly name: string; readonly message: string };
};

export type DropFetch = { readonly firstTriedAt: Date; readonly fetchedAt: Date | null; readonly outcome: string };

/** The cycles. At most one is open at a time, and at most one command holds it. */
export interface DropCycles {
  /** Claims the open cycle, or starts one. Returns null if another command holds it. */
  claim(leaseSeconds: number): Promise<ClaimedCycle | null>;
  /** Returns false if the claim was lost. */
  renew(cycle: ClaimedCycle, leaseSeconds: number): Promise<boolean>;
  /** Returns the cycle at its next step. Throws if the claim was lost. */
  advance(cycle: ClaimedCycle, change: CycleChange): Promise<ClaimedCycle>;
  /** Releases the claim. */
  release(cycle: ClaimedCycle, waitingFor: DropWait | null, failure: string | null): Promise<void>;
  /** Ends a cycle for which DROP has nothing new. */
  discard(cycle: ClaimedCycle): Promise<void>;
  /** Records an attempt to fetch an archive that did not return one. */
  noteFetch(outcome: string, isCurrent: boolean): Promise<void>;
  hasArchive(sha256: string): Promise<boolean>;
  listUploads(cycleId: number): Promise<readonly DropUpload[]>;
  addAmendment(cycleId: number, upload: NewUpload): Promise<void>;
  /** Records an attempt before it is made. */
  noteSent(cycleId: number, name: string): Promise<void>;
  /** Records that no attempt took effect. */
  noteUnsent(cycleId: number, name: string): Promise<void>;
  noteAccepted(cycleId: number, name: string, message: string): Promise<void>;
  /** Records that the file is not sent again. */
  noteRefused(cycleId: number, name: string, message: string): Promise<void>;
  finish(cycle: ClaimedCycle, finishedAt: Date, proof: SignedDropProof): Promise<void>;
  find(id: number): Promise<DropCycle | null>;
  list(limit: number): Promise<readonly DropCycle[]>;
  findProof(id: number): Promise<SignedDropProof | null>;
  findFetch(): Promise<DropFetch | null>;
}

/** The items in the engine. Every method can be repeated. */
export interface DropItems {
  /** Removes what an interrupted attempt has written for the cycle. */
  clear(cycleId: number): Promise<void>;
  /** Adds the items of a list to every shard. */
  addList(cycleId: number, file: ListFile, body: Readable, signal: AbortSignal): Promise<ReadList>;
  addExempt(cycleId: number, hashes: readonly string[]): Promise<void>;
  /** The distinct hashes of the requested items that are not exempt, in Base64. */
  requestedHashes(cycleId: number): Promise<AsyncIterable<string> | null>;
  /** The hashes of withdrawn items, in Base64, except hashes that a requested item of any cycle has. */
  liftedHashes(cycleId: number): Promise<AsyncIterable<string> | null>;
  /** Lists the stored devices with a requested hash for an erasure, and records which hashes were found. Returns their number. */
  match(cycleId: number, listId: number, signal: AbortSignal): Promise<number>;
  /** Counts the rows with a requested hash on every replica. Throws if a replica is unavailable. */
  countRemaining(cycleId: number): Promise<readonly RemainingRows[]>;
  /** Counts the items of each list. An ID that is repeated counts once. */
  countItems(cycleId: number, list: string): Promise<number>;
  /** The answers to a page of a list, in the order of the IDs, as `Id,Status` lines without the header. */
  answers(cycleId: number, list: string, policy: CyclePolicy, page: { after: string; limit: number }): Promise<Buffer>;
  /** Counts how many of these IDs belong to the cycle. */
  countKnown(cycleId: number, ids: readonly string[]): Promise<number>;
  /** Removes what is only needed during the cycle. */
  finish(cycleId: number): Promise<void>;
}

/** The operations on the suppression list that a cycle needs. */
export interface CycleSuppression {
  change(hashes: AsyncIterable<string>, isRemoval: boolean): Promise<void>;
  /** Counts running jobs, and jobs whose files are being repaired, with rows that were checked against an earlier version. */
  countOutdatedJobs(): Promise<number>;
}

type CycleErasure = {
  readonly isDone: boolean;
  readonly failure: string | null;
  readonly erased: readonly Omit<ErasedRows, 'partnerId'>[];
};

/** The operations on operators' erasures that a cycle needs. */
export interface CycleErasures {
  /** Starts an erasure whose list is written next. Removes one that an interrupted attempt has started for the cycle. */
  begin(cycleId: number): Promise<{ readonly id: number; readonly listId: number }>;
  /** Removes an erasure of the cycle that has begun, but is not complete. */
  cancel(cycleId: number): Promise<void>;
  /** Starts the erasure. Does nothing if it has started. */
  complete(list: ErasureList, archive: Archive): Promise<void>;
  find(id: number): Promise<CycleErasure | null>;
}

export type PolicySource = () => Promise<{ readonly policy: DropPolicy; readonly exemptHashes: readonly string[] }>;
