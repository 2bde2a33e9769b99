import type { PgBoss } from 'pg-boss';
import type { Operations } from '../../ports/operations.ts';
import type { Database } from './connect.ts';
import { cancelJob } from './operations/cancel-job.ts';
import { findJob, listJobs } from './operations/select-jobs.ts';
import { listLanes } from './operations/select-lanes.ts';
import { selectRequest } from './operations/select-request.ts';

export function postgresOperations(db: Database, boss: PgBoss): Operations {
  return {
    listLanes: (limit) => listLanes(db, limit),
    listJobs: (filter) => listJobs(db, filter),
    findJob: (jobId, fileLimit) => findJob(db, jobId, fileLimit),
    findRequest: (jobId) => selectRequest(db, jobId),
    cancelJob: (jobId) => cancelJob(db, boss, jobId),
  };
}
