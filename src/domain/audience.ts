import { type JobStatus, jobStatus } from './job.ts';
import type { PartnerId } from './partner.ts';

/** Whose audiences a call sees and makes: a customer's when it came with a user token, else the partner's own. */
export type AudienceScope = { readonly partnerId: PartnerId; readonly customerId: number | null };

type AudienceCounts = {
  /** Sum over the loaded files of the distinct devices in each. */
  readonly uploadedDevices: number;
  readonly uniqueDevices: number;
  /** Those of the unique ones that the device warehouse knows. */
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

/** Decision 5: the status of an audience follows from its files and is stored nowhere. An empty audience is finished. */
export function audienceStatus(files: StatusesPresent): JobStatus {
  const { pending, running, done, failed } = jobStatus;
  if (files[running]) return running;
  if (files[pending]) return files[done] || files[failed] ? running : pending;
  return files[failed] ? failed : done;
}
