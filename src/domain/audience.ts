import { type JobStatus, jobStatus } from './job.ts';
import type { PartnerId } from './ids.ts';

/**
 * The owner of the audiences that a call can access. With a user token, the owner is a customer; without one, the
 * partner.
 */
export type AudienceScope = { readonly partnerId: PartnerId; readonly customerId: number | null };

type AudienceCounts = {
  /** The sum of the distinct device counts of all loaded files. */
  readonly uploadedDevices: number;
  readonly uniqueDevices: number;
  /** Distinct devices that exist in the device warehouse. */
  readonly matchedDevices: number;
};

export type Audience = AudienceCounts & {
  readonly id: number;
  readonly name: string;
  readonly warehouseSegmentId: number;
  readonly status: JobStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Whether any file entry has this status. */
export type StatusesPresent = Readonly<Record<JobStatus, boolean>>;

/** Decision 5: an audience's status is derived from its files and never stored. An empty audience is done. */
export function audienceStatus(files: StatusesPresent): JobStatus {
  const { pending, running, done, failed } = jobStatus;
  if (files[running]) return running;
  if (files[pending]) return files[done] || files[failed] ? running : pending;
  return files[failed] ? failed : done;
}
