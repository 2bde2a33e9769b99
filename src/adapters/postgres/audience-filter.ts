import { type RawBuilder, sql } from 'kysely';
import { combinationsWith } from '../../domain/audience.ts';
import type { PartnerId } from '../../domain/ids.ts';
import { type JobStatus, jobStatus } from '../../domain/job.ts';
import type { AudienceFilter } from '../../domain/list-filters.ts';
import { hasEntryOf } from './audience-status.ts';

/**
 * The generations of the partner's audiences with an entry that is pending, running, or failed. Every other audience is
 * done, so deriving the status of these few audiences is enough. Two partial indexes contain only such entries.
 */
export function withAudiencesNotDone(partnerId: PartnerId): RawBuilder<unknown> {
  return sql`WITH not_done AS MATERIALIZED (
    SELECT f.audience_id, f.generation FROM job_file f
    WHERE f.partner_id = ${partnerId} AND f.audience_id IS NOT NULL AND f.status <> ${sql.lit(jobStatus.done)}
      AND NOT f.superseded AND f.dismissed_at IS NULL
    UNION
    SELECT l.audience_id, l.generation FROM job j JOIN audience_load l ON l.job_id = j.id
    WHERE j.partner_id = ${partnerId} AND j.kind = 'audience' AND j.listed_at IS NULL AND NOT l.superseded
  )`;
}

/** Conditions on `audience`. With statuses, the statement must begin with `withAudiencesNotDone`. */
export function matching({ statuses, name, createdFrom, createdTo }: AudienceFilter): RawBuilder<unknown> {
  const conditions = [
    ...(name === undefined ? [] : [sql`audience.name ILIKE ${`%${name.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`}`]),
    ...(createdFrom ? [sql`audience.created_at >= ${createdFrom}`] : []),
    ...(createdTo ? [sql`audience.created_at < ${createdTo}`] : []),
    ...(statuses ? [hasStatus(statuses)] : []),
  ];
  return sql.join(
    conditions.map((condition) => sql`AND ${condition}`),
    sql` `,
  );
}

function hasStatus(statuses: readonly JobStatus[]): RawBuilder<unknown> {
  const isNotDone = sql`(audience.id, audience.generation) IN (
    SELECT audience_id, generation FROM not_done)`;
  const isDerived = sql`${presentBits} IN (${sql.join(combinationsWith(statuses).map((present) => sql.lit(bitsOf(present))))})`;
  return statuses.includes(jobStatus.done)
    ? sql`(NOT (${isNotDone}) OR ${isDerived})`
    : sql`${isNotDone} AND ${isDerived}`;
}

const every = Object.values(jobStatus);

/** The statuses of the audience's entries as a number, in which each bit stands for one status. */
const presentBits = sql`(${sql.join(
  every.map((status) => sql`CASE WHEN ${hasEntryOf(status)} THEN ${sql.lit(1 << status)} ELSE 0 END`),
  sql` + `,
)})`;

function bitsOf(present: Readonly<Record<JobStatus, boolean>>): number {
  return every.filter((status) => present[status]).reduce<number>((bits, status) => bits | (1 << status), 0);
}
