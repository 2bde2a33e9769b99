import { type JobStatus, type Progress, jobStatus } from './job.ts';
import type { ImportLogError } from './import-log.ts';
import type { JobId, PartnerId } from './ids.ts';

/**
 * The owner of the audiences that a call can access: the customer if the call has a user token, otherwise the partner.
 */
export type AudienceScope = { readonly partnerId: PartnerId; readonly customerId: number | null };

/** What a list covers: the audiences of one owner, or those of the partner and of all its customers. */
export type AudienceReach = Pick<AudienceScope, 'partnerId'> & {
  readonly customerId: AudienceScope['customerId'] | 'every';
};

type AudienceCounts = {
  /** The sum of the distinct device counts of all loaded files. */
  readonly uploadedDevices: number;
  readonly uniqueDevices: number;
  /** Distinct devices that exist in the device warehouse. */
  readonly matchedDevices: number;
  /** When the devices were last counted. Null if the audience has no loaded file. */
  readonly matchedAt: Date | null;
};

export type Audience = AudienceCounts & {
  readonly id: number;
  readonly name: string;
  /** The name of the customer that owns the audience. Null if it belongs to the partner itself. */
  readonly customer: string | null;
  readonly warehouseSegmentId: number;
  readonly status: JobStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/**
 * Totals over the file entries of an audience. Entries that do not affect the status, such as dismissed ones, are
 * included only in the numbers of entries.
 */
export type AudienceSummary = {
  readonly entries: number;
  /** Entries that are neither waiting nor loading. */
  readonly endedEntries: number;
  readonly failedEntries: number;
  readonly rejectedRows: number;
  /** The progress of the open appends or, if none is open, of the latest one. */
  readonly progress: Progress;
  /** Each reason once, failed files before rejected rows. Null if nothing failed. */
  readonly errors: readonly ImportLogError[] | null;
};

/** The number of matched devices is rounded for audiences with fewer devices than this. */
const exactMatchesFrom = 1_000;

/**
 * Decision 7: the number of matched devices of a small audience is rounded down to a multiple of `unit`. For an
 * audience of one device, the exact number would reveal whether any partner has imported that device.
 */
export function roundMatches<A extends Pick<AudienceCounts, 'uniqueDevices' | 'matchedDevices'>>(
  audience: A,
  unit: number,
): A {
  if (audience.uniqueDevices >= exactMatchesFrom) return audience;
  return { ...audience, matchedDevices: Math.floor(audience.matchedDevices / unit) * unit };
}

/** Whether any file entry has this status. */
export type StatusesPresent = Readonly<Record<JobStatus, boolean>>;

/** Decision 5: an audience's status is derived from its files and never stored. An empty audience is done. */
export function audienceStatus(files: StatusesPresent): JobStatus {
  const { pending, running, done, failed } = jobStatus;
  if (files[running]) return running;
  if (files[pending]) return files[done] || files[failed] ? running : pending;
  return files[failed] ? failed : done;
}

const statuses = Object.values(jobStatus);

/** Every combination of present statuses from which one of these statuses of an audience is derived. */
export function combinationsWith(wanted: readonly JobStatus[]): StatusesPresent[] {
  const { pending, running, done, failed } = jobStatus;
  const combinations = Array.from({ length: 2 ** statuses.length }, (_, bits) => {
    const has = (status: JobStatus): boolean => (bits & (1 << status)) !== 0;
    return { [pending]: has(pending), [running]: has(running), [done]: has(done), [failed]: has(failed) };
  });
  return combinations.filter((present) => wanted.includes(audienceStatus(present)));
}

/**
 * Identifies an entry in an audience's file list: a file, or a job whose path has not been listed yet or could not be
 * listed.
 */
export type FileEntryId = { readonly fileId: number } | { readonly jobId: JobId };

const entryPattern = /^(path-)?([1-9]\d{0,14})$/;

export function formatEntryId(id: FileEntryId): string {
  return 'fileId' in id ? String(id.fileId) : `path-${id.jobId}`;
}

/** Returns null if the text is not an entry ID. */
export function parseEntryId(text: string): FileEntryId | null {
  const [, path, digits] = entryPattern.exec(text) ?? [];
  if (digits === undefined) return null;
  return path === undefined ? { fileId: Number(digits) } : { jobId: Number(digits) };
}
