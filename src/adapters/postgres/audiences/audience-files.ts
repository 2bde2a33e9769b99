import { sql, type RawBuilder } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';

/**
 * The file entries of the live generation of `audience`, which must be in scope: its files, and the paths of jobs that
 * never came to list any (because they wait, or because they failed). Of each path the newest.
 */
export const audienceFiles: RawBuilder<unknown> = sql`
  SELECT f.job_id, f.id, f.key AS s3_path, f.status, CASE WHEN f.status = ${jobStatus.done} THEN f.accepted_rows ELSE 0 END AS rows,
         f.updated_at
  FROM job_file f
  WHERE f.audience_id = audience.id AND f.generation = audience.generation AND NOT f.superseded
  UNION ALL
  SELECT l.job_id, 0, p.prefix || l.file_path, CASE WHEN j.status = ${jobStatus.failed} THEN j.status ELSE ${jobStatus.pending} END, 0,
         j.updated_at
  FROM audience_load l JOIN job j ON j.id = l.job_id JOIN partner p ON p.id = l.partner_id
  WHERE l.audience_id = audience.id AND l.generation = audience.generation AND NOT l.superseded AND j.listed_at IS NULL`;
