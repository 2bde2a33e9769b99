import { type RawBuilder, sql } from 'kysely';

/**
 * Whether an open job counts toward the limit and is shown in the lane. A job that is canceled before its start stays
 * open until the jobs before it end, but no worker has anything to do for it. The condition can use the index of open
 * jobs.
 */
export function countsAsOpen(job: 'job' | 'ahead'): RawBuilder<boolean> {
  return sql`(${sql.ref(`${job}.status`)} IN (0, 1) AND NOT ${sql.ref(`${job}.cancelled`)})`;
}

/** The number of the partner's open jobs ahead of this one. The enclosing query must provide `job`. */
export const openJobsAhead: RawBuilder<number> = sql`
  (SELECT count(*) FROM job ahead
   WHERE ahead.partner_id = job.partner_id AND ahead.seq < job.seq AND ${countsAsOpen('ahead')})`;
