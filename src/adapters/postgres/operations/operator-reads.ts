import { sql } from 'kysely';
import type { JobReads, OperatorReads, PartnerReads } from '../../../ports/operations.ts';
import { advisoryLocks } from '../db/advisory-locks.ts';
import type { Database } from '../db/tables.ts';
import { readQueueStats } from '../queue/queue-stats.ts';
import { findJob, listJobs } from './select-jobs.ts';
import { listLanes } from './select-lanes.ts';
import { listPartners } from './select-partners.ts';

export function postgresJobReads(db: Database): JobReads {
  return {
    listLanes: (page) => listLanes(db, page),
    listJobs: (filter) => listJobs(db, filter),
    findJob: (jobId, fileLimit) => findJob(db, jobId, fileLimit),
  };
}

export function postgresPartnerReads(db: Database): PartnerReads {
  return { listPartners: (page) => listPartners(db, page) };
}

/** `db` must be able to read the rows of all partners. */
export function postgresOperatorReads(db: Database): OperatorReads {
  return {
    ...postgresJobReads(db),
    ...postgresPartnerReads(db),
    isPaused: () => isPaused(db),
    readWaits: () => readQueueStats(db),
  };
}

/** Reads the locks, because taking the lock, even in shared mode, would delay a backup. */
async function isPaused(db: Database): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    SELECT EXISTS (
      SELECT FROM pg_locks
      WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid = 0 AND objid = ${advisoryLocks.backupCut}::bigint::oid AND objsubid = 1
    ) AS is`.execute(db);
  return rows[0]?.is === true;
}
