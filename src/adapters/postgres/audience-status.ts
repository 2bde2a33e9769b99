import { type RawBuilder, sql } from 'kysely';
import { type JobStatus, jobStatus } from '../../domain/job.ts';

// The entries of an audience's file list that determine its status. The enclosing query must provide `audience`.

/**
 * Selects the paths of jobs that have not listed any files, because they are waiting or have failed. Once all files of
 * a later append have ended, a path that matched no files no longer decides the status of the audience. This does not
 * wait for the append's job, which ends a moment after its files, because the status must not be 3 in between.
 */
export const pathsWithoutFiles: RawBuilder<unknown> = sql`
  SELECT l.job_id, 0 AS id, p.prefix || l.file_path AS s3_path, NULL AS etag, NULL::timestamptz AS last_modified,
         CASE WHEN j.status = ${jobStatus.failed} THEN j.status ELSE ${jobStatus.pending} END AS status, 0 AS rows, 0 AS suppressed,
         j.updated_at, j.failure_code, j.failure_detail, l.dismissed_at, l.dismissed_by,
         l.dismissed_at IS NULL AND (j.status = ${jobStatus.failed} AND j.failure_code = 'no_files' AND EXISTS (
           SELECT FROM audience_load later JOIN job k ON k.id = later.job_id
           WHERE later.audience_id = l.audience_id AND later.generation = l.generation AND later.job_id > l.job_id
             AND k.listed_at IS NOT NULL AND NOT EXISTS (
               SELECT FROM job_file open WHERE open.job_id = k.id AND open.status IN (${jobStatus.pending}, ${jobStatus.running})
             ))) IS NOT TRUE AS decides
  FROM audience_load l JOIN job j ON j.id = l.job_id JOIN partner p ON p.id = l.partner_id
  WHERE l.audience_id = audience.id AND l.generation = audience.generation AND NOT l.superseded AND j.listed_at IS NULL`;

/**
 * Whether any entry that decides the audience's status has this status. Selects the lowest status that is at least this
 * one, which is the first match in an index. With EXISTS, PostgreSQL could scan the whole table, because it expects to
 * find a match early if another audience has many files. Listing 1,000 audiences took over 10 s that way.
 */
export const hasEntryOf = (status: JobStatus): RawBuilder<boolean> => {
  const file = sql<boolean>`coalesce((
    SELECT min(f.status) FROM job_file f
    WHERE f.audience_id = audience.id AND f.generation = audience.generation AND NOT f.superseded
      AND f.dismissed_at IS NULL AND f.status >= ${sql.lit(status)}) = ${sql.lit(status)}, false)`;
  // A path without files is either pending or failed.
  if (status === jobStatus.running || status === jobStatus.done) return file;
  return sql<boolean>`(${file} OR EXISTS (
    SELECT FROM (${pathsWithoutFiles}) AS entry WHERE entry.status = ${sql.lit(status)} AND entry.decides))`;
};
