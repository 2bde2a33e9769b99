import { sql } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';
import type { AudienceJob, FileToLoad } from '../../../ports/lane-store.ts';
import type { Tx } from '../connect.ts';

// Of each path of an audience one entry is shown. Jobs of a partner run in the order of their ids.

/** The file as it is now, if that was loaded before; else the one that comes. */
export async function supersedeFiles(tx: Tx, job: AudienceJob, files: readonly FileToLoad[]): Promise<void> {
  await sql`
    UPDATE job_file f
    SET superseded = NOT (f.status = ${jobStatus.done} AND f.etag = now.etag AND f.size = now.size)
    FROM unnest(
      ${files.map(({ key }) => key)}::text[], ${files.map(({ etag }) => etag)}::text[],
      ${files.map(({ size }) => size)}::bigint[]
    ) AS now (key, etag, size)
    WHERE f.audience_id = ${job.audienceId} AND f.generation = ${job.generation} AND f.key = now.key
      AND f.superseded = (f.status = ${jobStatus.done} AND f.etag = now.etag AND f.size = now.size)
  `.execute(tx);
}

/** What earlier jobs were asked for at these paths is no longer shown. */
export async function supersedeLoads(
  tx: Tx,
  job: { readonly id: number; readonly audienceId: number; readonly generation: number },
  paths: readonly string[],
): Promise<void> {
  await tx
    .updateTable('audience_load')
    .set({ superseded: true })
    .where('audience_id', '=', job.audienceId)
    .where('generation', '=', job.generation)
    .where('file_path', '=', sql<string>`ANY(${paths}::text[])`)
    .where('job_id', '<', job.id)
    .execute();
}

/** A file of the path of a job that could not start: the job is the entry now. */
export async function supersedeByFailed(tx: Tx, jobId: number): Promise<void> {
  await sql`
    UPDATE job_file f SET superseded = true FROM audience_load own JOIN partner p ON p.id = own.partner_id
    WHERE own.job_id = ${jobId} AND f.audience_id = own.audience_id AND f.generation = own.generation
      AND f.key = p.prefix || own.file_path AND NOT f.superseded
  `.execute(tx);
}
