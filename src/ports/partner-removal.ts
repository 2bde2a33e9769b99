import type { JobId, PartnerId } from '../domain/ids.ts';
import type { Partner } from '../domain/partner.ts';
import type { OpenWork, PlaceCount, Removal, RemovalStep, SignedRemovalProof } from '../domain/partner-removal.ts';

/** Partner removals, and the partners' records. Every method can be repeated. */
export interface PartnerRemovals {
  /** Runs a function while no other process removes this partner. Returns null if another process does. */
  withLock<T>(name: string, run: () => Promise<T>): Promise<T | null>;
  /** Returns the unfinished removal of a partner with this name, or else the last one. Null if there is none. */
  find(name: string): Promise<Removal | null>;
  /** Returns the removal of this partner. Null if there is none, or if the partner had another name. */
  findOf(partnerId: PartnerId, name: string): Promise<Removal | null>;
  /**
   * The point of no return. In one transaction, records the removal, suspends the partner, revokes its keys and tokens,
   * and ends its sessions, webhooks, subscriptions, and exports. The records of the exports stay, because they name the
   * staging tables.
   */
  begin(partner: Partner, from: { readonly requestedBy: string; readonly hasStorageUser: boolean }): Promise<Removal>;
  /** Ends again what `begin` ends, because a request in flight can commit afterward. */
  endAccess(partnerId: PartnerId): Promise<void>;
  advance(partnerId: PartnerId, change: RemovalChange): Promise<Removal>;
  listOpenJobs(partnerId: PartnerId): Promise<readonly JobId[]>;
  /** Loads of an interrupted repair count for a day, as they do everywhere. */
  countOpenWork(partnerId: PartnerId): Promise<OpenWork>;
  countRecords(partnerId: PartnerId): Promise<readonly PlaceCount[]>;
  removeRecords(partnerId: PartnerId): Promise<void>;
  /** Returns the partners of these files. Omits files without a record. */
  ownersOfFiles(fileIds: readonly number[]): Promise<ReadonlyMap<number, PartnerId>>;
  /** Returns the partners of these loads. Omits loads without a record. */
  ownersOfLoads(loadIds: readonly number[]): Promise<ReadonlyMap<number, PartnerId>>;
  /** Returns the partners of these loads, which may not have published their rows. Omits loads without a record. */
  ownersOfStagedLoads(loadIds: readonly number[]): Promise<ReadonlyMap<number, PartnerId>>;
  ownersOfJobs(jobIds: readonly number[]): Promise<ReadonlyMap<number, PartnerId>>;
  /** Returns the partners of these exports of rejected rows. Omits exports without a record. */
  ownersOfExports(exportIds: readonly number[]): Promise<ReadonlyMap<number, PartnerId>>;
  finish(partnerId: PartnerId, finishedAt: Date, proof: SignedRemovalProof): Promise<Removal>;
}

export type RemovalChange = {
  readonly step: RemovalStep;
  readonly removed?: readonly PlaceCount[];
  readonly remaining?: readonly PlaceCount[];
  /** Records that nothing remained. */
  readonly isRemoved?: boolean;
};

export type LoadOwners = Pick<PartnerRemovals, 'ownersOfFiles' | 'ownersOfLoads'>;
export type StageOwners = Pick<PartnerRemovals, 'ownersOfStagedLoads' | 'ownersOfJobs' | 'ownersOfExports'>;

/** The partner's rows in ClickHouse. Every method can be repeated. */
export interface RemovalEngine {
  /** Counts the rows of the partner in every table, on every replica. Throws if a replica is unavailable. */
  countRows(partnerId: PartnerId): Promise<readonly PlaceCount[]>;
  removeRows(partnerId: PartnerId, signal: AbortSignal): Promise<void>;
  /**
   * Counts and rejected lines have no partner, so they are found by their file and their load. Rejected lines of files
   * without a record are removed too, because their partner is unknown.
   */
  countLoads(partnerId: PartnerId, owners: LoadOwners): Promise<readonly PlaceCount[]>;
  removeLoads(partnerId: PartnerId, owners: LoadOwners, signal: AbortSignal): Promise<void>;
  /**
   * Counts the rows and tables that are staged for the partner. Includes what is staged for loads, jobs, and exports without
   * a record, because their partner is unknown.
   */
  countStaged(partnerId: PartnerId, owners: StageOwners): Promise<readonly PlaceCount[]>;
  /** Drops the tables with rejected rows of the partner's exports, and those of exports without a record. */
  dropExports(partnerId: PartnerId, owners: StageOwners): Promise<void>;
}

/** The partner's objects in the shared bucket, and its storage user. Every method can be repeated. */
export interface RemovalStorage {
  /** Null if Inlet does not manage the users of this storage. */
  readonly removeUser: ((partnerName: string) => Promise<void>) | null;
  /** Counts versions of objects and unfinished uploads. */
  countObjects(prefix: string): Promise<readonly PlaceCount[]>;
  removeObjects(prefix: string): Promise<void>;
}
