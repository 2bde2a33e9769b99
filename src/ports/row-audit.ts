import type { JobId, PartnerId } from '../domain/ids.ts';
import type { JobVersions } from '../domain/job.ts';
import type { Generation } from './warehouse.ts';

/** The jobs and audiences to audit. */
export type AuditScope = { readonly partnerId: PartnerId | null; readonly since: Date };

export type AuditPage = { readonly afterId: number; readonly limit: number };

/** A finished import, as recorded. */
export type RecordedImport = {
  readonly jobId: JobId;
  readonly partnerId: PartnerId;
  readonly seq: number;
  readonly isReplace: boolean;
  readonly uniqueDevices: number;
  /** True if a later import or delete may have removed rows of this one. */
  readonly hasLater: boolean;
  /** Maximum number of rows of this import that erasures may have removed afterward. */
  readonly erasedRows: number;
};

/** A finished delete, as recorded. */
export type RecordedDelete = {
  readonly jobId: JobId;
  readonly partnerId: PartnerId;
  readonly seq: number;
  readonly attributeIds: readonly number[];
};

/** An audience without open jobs, as recorded. */
export type RecordedAudience = Generation & {
  /** Changes whenever the counts change. */
  readonly lastLoadId: number | null;
  readonly uploadedDevices: number;
  /** The sum of the uploaded devices of all loaded files. */
  readonly uploadedByFiles: number;
  readonly uniqueDevices: number;
  readonly matchedDevices: number;
  /** Maximum number of rows that erasures may have removed after the counts were recorded. */
  readonly erasedRows: number;
};

/** Reads the records of finished work, ordered by ID. */
export interface AuditRecords {
  listImports(scope: AuditScope, page: AuditPage): Promise<readonly RecordedImport[]>;
  listDeletes(scope: AuditScope, page: AuditPage): Promise<readonly RecordedDelete[]>;
  listAudiences(scope: AuditScope, page: AuditPage): Promise<readonly RecordedAudience[]>;
  /** Returns null if the audience has open jobs. */
  findAudience(audienceId: number): Promise<RecordedAudience | null>;
  /**
   * Returns the jobs (by position in the lane) and audiences that have no record. An audience whose stored generation
   * is later than the recorded one also counts as unrecorded.
   */
  findUnrecorded(
    partnerId: PartnerId,
    stored: { readonly seqs: readonly number[]; readonly audiences: readonly Omit<Generation, 'partnerId'>[] },
  ): Promise<{ readonly seqs: ReadonlySet<number>; readonly audienceIds: ReadonlySet<number> }>;
}

/** Counts the devices and rows stored in the engine. */
export interface AuditEngine {
  /** Counts the distinct devices with rows of these versions, on all shards. */
  countDevicesOfJob(partnerId: PartnerId, versions: JobVersions): Promise<number>;
  countDevicesOfAudience(generation: Generation): Promise<number>;
  /** Lists the partners that have rows. If a partner is given, lists only that partner, or none if it has no rows. */
  listPartners(partnerId: PartnerId | null): Promise<readonly PartnerId[]>;
  /** Counts a partner's attribute rows by the position of their job in the lane. */
  countRowsOfJobs(partnerId: PartnerId): Promise<readonly { readonly seq: number; readonly rows: number }[]>;
  countRowsOfAudiences(
    partnerId: PartnerId,
  ): Promise<readonly (Omit<Generation, 'partnerId'> & { readonly rows: number })[]>;
}
