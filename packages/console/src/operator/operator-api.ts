import type {
  OperatorAlert,
  OperatorBackup,
  OperatorBackups,
  OperatorCommands,
  OperatorFile,
  OperatorJob,
  OperatorJobDetails,
  OperatorLane,
  OperatorPartner,
  OperatorReplica,
} from '@inlet/sdk/browser';
import { api } from '../api.ts';

// The operator API, which is read-only.

type Query = Readonly<Record<string, string>>;

/** A command that the API lists or that a page adds. */
export type Cli = {
  readonly action: OperatorCommands[number]['action'] | 'back_up' | 'doctor';
  readonly command: string;
};
export type Lane = OperatorLane;
export type LaneFailure = NonNullable<OperatorLane['last_failure']>;
export type Job = OperatorJob;
export type JobFile = OperatorFile;
export type JobDetails = OperatorJobDetails;
export type Partner = OperatorPartner;
export type Quota = OperatorPartner['quotas']['stored_rows'];
export type Replica = OperatorReplica;
export type Backup = OperatorBackup;
export type Backups = OperatorBackups;
export type Alert = OperatorAlert;

export const operatorApi = {
  listLanes: (query: Query, signal: AbortSignal) => api.listOperatorLanes({ query, signal }),
  listJobs: (query: Query, signal: AbortSignal) => api.listOperatorJobs({ query, signal }),
  getJob: (id: number, signal: AbortSignal) => api.getOperatorJob(id, { signal }),
  listPartners: (query: Query, signal: AbortSignal) => api.listOperatorPartners({ query, signal }),
  getEngine: (signal: AbortSignal) => api.getOperatorEngine({ signal }),
  listBackups: (signal: AbortSignal) => api.listOperatorBackups({ signal }),
  listAlerts: (signal: AbortSignal) => api.listOperatorAlerts({ signal }),
};
