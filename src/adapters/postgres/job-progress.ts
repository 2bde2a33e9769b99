import { type RawBuilder, sql } from 'kysely';
import type { PartnerId } from '../../domain/ids.ts';
import { type Progress, estimateSecondsLeft, openStatuses } from '../../domain/job.ts';
import { type LaneHistory, estimateWait } from '../../domain/lane-estimate.ts';
import type { Database, Tx } from './db/tables.ts';
import { selectLaneHistory } from './lane-history.ts';
import { openJobsAhead } from './open-jobs.ts';

// The progress of imports and appends. The enclosing query must provide `job`.

/** The number of the partner's open jobs ahead of this one. It is 0 for a job that has ended. */
export const jobsAhead: RawBuilder<number> = sql`
  (CASE WHEN job.status IN (0, 1) THEN ${openJobsAhead} ELSE 0 END)`;

export const runningSeconds: RawBuilder<number | null> = sql`extract(epoch FROM now() - job.listed_at)::float8`;

export function isOpen({ status }: { readonly status: number }): boolean {
  return openStatuses.some((open) => open === status);
}

/** The data from which the waiting times of these jobs are estimated. Null if all of them have ended. */
export async function historyFor(
  db: Database | Tx,
  partnerId: PartnerId,
  jobs: readonly { readonly status: number }[],
): Promise<LaneHistory | null> {
  return jobs.some(isOpen) ? selectLaneHistory(db, partnerId) : null;
}

/**
 * What has been read of the files `f` of an append. For an import that has ended, its record contains these numbers.
 */
export const readOfFiles: RawBuilder<unknown> = sql`
  coalesce(sum(f.bytes_read), 0)::bigint AS bytes_read, coalesce(sum(f.size), 0)::bigint AS bytes_total,
  coalesce(sum(greatest(f.rows_read, f.total_rows)), 0)::bigint AS rows_read`;

export type ProgressRow = {
  readonly status: number;
  readonly bytes_read: number;
  readonly bytes_total: number;
  readonly rows_read: number;
  readonly jobs_ahead: number;
  readonly running_seconds: number | null;
};

export function progressOf(row: ProgressRow, history: LaneHistory | null): Progress {
  const left = estimateSecondsLeft({ bytes: row.bytes_read, total: row.bytes_total }, row.running_seconds ?? 0);
  return {
    bytesRead: row.bytes_read,
    bytesTotal: row.bytes_total,
    rowsRead: row.rows_read,
    queuePosition: row.jobs_ahead,
    secondsLeft: isOpen(row) ? (left ?? (history && estimateWait(history, row.jobs_ahead))) : 0,
  };
}
