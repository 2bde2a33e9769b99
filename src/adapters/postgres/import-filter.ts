import { type RawBuilder, sql } from 'kysely';
import { jobKind, jobStatus } from '../../domain/job.ts';
import type { JobId, PartnerId } from '../../domain/ids.ts';
import { logType } from '../../domain/import-log.ts';
import { type ImportLogFilter, endOfPrefix } from '../../domain/list-filters.ts';
import type { Tx } from './db/tables.ts';

/** The IDs of the page are smaller than `before` and greater than `after`. */
type Page = { readonly after: JobId; readonly before: JobId; readonly limit: number };

/**
 * Number of the newest import logs that are read before the index on paths is searched. Reading them takes about 15 ms.
 */
const newestFirst = 10_000;

/**
 * Returns the IDs of a page of matching import logs, newest first. PostgreSQL cannot estimate how many of a partner's
 * newest logs match, and reads all of them if it expects a match early. Therefore, each statement can be answered from
 * one range of an index. With one statement for all filters, a page of a million logs took up to 1.5 s.
 */
export async function selectMatchingImports(
  tx: Tx,
  partnerId: PartnerId,
  filter: ImportLogFilter,
  { before, limit }: { readonly before: JobId; readonly limit: number },
): Promise<JobId[]> {
  const page = { limit, ...(await idRange(tx, partnerId, filter, before)) };
  if (filter.pathPrefix === undefined) return idsOf(tx, ofKindsAndStatuses(partnerId, filter, page));
  const newest = await idsOf(tx, amongNewest(partnerId, filter.pathPrefix, filter, page));
  return newest.length === limit ? newest : idsOf(tx, amongAll(partnerId, filter.pathPrefix, filter, page));
}

async function idsOf(tx: Tx, query: RawBuilder<{ id: JobId }>): Promise<JobId[]> {
  return (await query.execute(tx)).rows.map(({ id }) => id);
}

/** Reads one range of the index for each kind and status. Each range is in the order of the page. */
function ofKindsAndStatuses(partnerId: PartnerId, filter: ImportLogFilter, page: Page): RawBuilder<{ id: JobId }> {
  const ranges = kindsIn(filter).flatMap((kind) =>
    statusesIn(filter).map(
      (status) => sql`(
        SELECT job.id FROM job
        WHERE job.partner_id = ${partnerId} AND job.kind = ${sql.lit(kind)} AND job.status = ${sql.lit(status)}
          AND job.id > ${page.after} AND job.id < ${page.before} AND ${created(filter)}
        ORDER BY job.id DESC LIMIT ${page.limit})`,
    ),
  );
  return sql`SELECT id FROM (${sql.join(ranges, sql` UNION ALL `)}) AS found ORDER BY id DESC LIMIT ${page.limit}`;
}

function amongNewest(
  partnerId: PartnerId,
  prefix: string,
  filter: ImportLogFilter,
  { after, before, limit }: Page,
): RawBuilder<{ id: JobId }> {
  return sql`
    SELECT job.id FROM (
      SELECT job_id, file_path FROM import_log
      WHERE partner_id = ${partnerId} AND job_id > ${after} AND job_id < ${before}
      ORDER BY job_id DESC LIMIT ${newestFirst}
    ) AS log, LATERAL (SELECT id FROM job WHERE id = log.job_id AND ${ofJob(partnerId, filter)} OFFSET 0) AS job
    WHERE ${startsWith(sql`log.file_path`, prefix)}
    ORDER BY job.id DESC LIMIT ${limit}`;
}

/** Without OFFSET, PostgreSQL would read the newest import logs until the page is full. */
function amongAll(
  partnerId: PartnerId,
  prefix: string,
  filter: ImportLogFilter,
  { after, before, limit }: Page,
): RawBuilder<{ id: JobId }> {
  const isAboutJob = filter.statuses ?? filter.logType ?? filter.createdFrom ?? filter.createdTo;
  return sql`
    SELECT id FROM (
      SELECT log.job_id AS id FROM import_log log
        ${isAboutJob === undefined ? sql`` : sql`JOIN job ON job.id = log.job_id AND ${ofJob(partnerId, filter)}`}
      WHERE log.partner_id = ${partnerId} AND log.job_id > ${after} AND log.job_id < ${before}
        AND ${startsWith(sql`log.file_path`, prefix)}
      OFFSET 0
    ) AS found ORDER BY id DESC LIMIT ${limit}`;
}

function ofJob(partnerId: PartnerId, filter: ImportLogFilter): RawBuilder<unknown> {
  return sql`job.partner_id = ${partnerId} AND job.kind IN (${sql.join(kindsIn(filter))})
    AND job.status IN (${sql.join([...statusesIn(filter)])}) AND ${created(filter)}`;
}

function kindsIn({ logType: wanted }: ImportLogFilter): string[] {
  return [
    ...(wanted === logType.delete ? [] : [jobKind.import]),
    ...(wanted === logType.import ? [] : [jobKind.delete]),
  ];
}

function statusesIn({ statuses = Object.values(jobStatus) }: ImportLogFilter): readonly number[] {
  return statuses;
}

function created({ createdFrom, createdTo }: ImportLogFilter): RawBuilder<unknown> {
  return sql`${createdFrom ? sql`job.created_at >= ${createdFrom}` : sql`true`}
    AND ${createdTo ? sql`job.created_at < ${createdTo}` : sql`true`}`;
}

/**
 * Restricts the IDs to those of jobs that were created in this period. IDs are assigned almost in the order of
 * creation: the creation time is the start of the transaction, and the ID is assigned later. No transaction takes as
 * long as the margin.
 */
async function idRange(
  tx: Tx,
  partnerId: PartnerId,
  { createdFrom, createdTo }: ImportLogFilter,
  before: JobId,
): Promise<{ after: JobId; before: JobId }> {
  const none = { after: 0, before };
  if (!createdFrom && !createdTo) return none;
  const edge = (condition: RawBuilder<unknown>, direction: RawBuilder<unknown>) => sql`(
    SELECT id FROM job WHERE partner_id = ${partnerId} AND kind <> ${sql.lit(jobKind.audience)} AND ${condition}
    ORDER BY created_at ${direction} LIMIT 1)`;
  const margin = sql`interval '10 minutes'`;
  const first = createdFrom && edge(sql`created_at < ${createdFrom}::timestamptz - ${margin}`, sql`DESC`);
  const end = createdTo && edge(sql`created_at >= ${createdTo}::timestamptz + ${margin}`, sql``);
  const { rows } = await sql<{ first: JobId | null; end: JobId | null }>`
    SELECT ${first ?? sql`NULL::bigint`} AS first, ${end ?? sql`NULL::bigint`} AS end`.execute(tx);
  const [found] = rows;
  return { after: found?.first ?? none.after, before: Math.min(found?.end ?? before, before) };
}

function startsWith(path: RawBuilder<unknown>, prefix: string): RawBuilder<unknown> {
  const end = endOfPrefix(prefix);
  return sql`${path} COLLATE "C" >= ${prefix} AND ${end === null ? sql`true` : sql`${path} COLLATE "C" < ${end}`}`;
}
