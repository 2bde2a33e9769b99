import type { JobId, PartnerId } from '../../../domain/ids.ts';
import { sql } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';
import type { FileToLoad, AudienceJob } from '../../../ports/lane-store.ts';
import type { Database, Tx } from '../db/tables.ts';

/** Writes the list of files, once: a second holder of the lane finds the job listed and changes nothing. */
export async function startImport(
  db: Database,
  jobId: JobId,
  batches: readonly (readonly FileToLoad[])[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const started = await markStarted(tx, jobId);
    if (!started) return;
    const bytesTotal = batches.flat().reduce((sum, { size }) => sum + size, 0);
    await tx.updateTable('import_log').set({ bytes_total: bytesTotal }).where('job_id', '=', jobId).execute();
    await insertFiles(tx, { jobId, partnerId: started.partnerId, audience: null }, batches);
  });
}

/** As for an import; and what was said before of the same paths is no longer shown. */
export async function startAudienceLoad(
  db: Database,
  job: AudienceJob,
  batches: readonly (readonly FileToLoad[])[],
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const started = await markStarted(tx, job.id);
    if (!started) return 0;
    await supersedeFiles(tx, job, batches.flat());
    // Its own path was superseded when it was asked for; a file that was missing before is there now.
    await supersedeLoads(
      tx,
      job,
      batches.flat().map(({ key }) => key.slice(job.prefix.length)),
    );
    const audience = { id: job.audienceId, generation: job.generation };
    return insertFiles(tx, { jobId: job.id, partnerId: job.partnerId, audience }, batches);
  });
}

export async function startDelete(db: Database, jobId: JobId, found: { rows: number; devices: number }): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (!(await markStarted(tx, jobId))) return;
    await tx
      .updateTable('import_log')
      .set({ total_rows: found.rows, unique_devices: found.devices })
      .where('job_id', '=', jobId)
      .execute();
  });
}

/** Takes a job from pending to running, once; undefined for whoever comes second, and when it is cancelled. */
async function markStarted(tx: Tx, jobId: JobId): Promise<{ partnerId: PartnerId } | undefined> {
  return tx
    .updateTable('job')
    .set({ status: jobStatus.running, listed_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', jobId)
    .where('status', '=', jobStatus.pending)
    .where('cancelled', '=', false)
    .where('listed_at', 'is', null)
    .returning('partner_id as partnerId')
    .executeTakeFirst();
}

type Owner = {
  readonly jobId: JobId;
  readonly partnerId: PartnerId;
  /** Files that this generation of the audience has already are left out. */
  readonly audience: { readonly id: number; readonly generation: number } | null;
};

/** Writes the list of files, in its order; the files of a batch carry the id of the first. Gives how many were written. */
async function insertFiles(tx: Tx, owner: Owner, batches: readonly (readonly FileToLoad[])[]): Promise<number> {
  const files = batches.flatMap((batch, number) => batch.map((file) => ({ ...file, number })));
  const { rows } = await sql`
    INSERT INTO job_file (id, batch_id, job_id, partner_id, audience_id, generation, key, path, etag, size, gzip)
    SELECT f.id, min(f.id) OVER (PARTITION BY f.batch), ${owner.jobId}, ${owner.partnerId},
           ${owner.audience?.id ?? null}, ${owner.audience?.generation ?? null}, f.key, f.path, f.etag, f.size, f.gzip
    FROM (
      SELECT nextval(pg_get_serial_sequence('job_file', 'id')) AS id, listed.*
      FROM (
        SELECT * FROM unnest(
          ${files.map(({ number }) => number)}::int[],
          ${files.map(({ key }) => key)}::text[], ${files.map(({ path }) => path)}::text[],
          ${files.map(({ etag }) => etag)}::text[], ${files.map(({ size }) => size)}::bigint[],
          ${files.map(({ gzip }) => gzip)}::boolean[]
        ) WITH ORDINALITY AS f (batch, key, path, etag, size, gzip, place)
        WHERE NOT EXISTS (
          SELECT FROM job_file loaded
          WHERE loaded.audience_id = ${owner.audience?.id ?? null} AND loaded.generation = ${owner.audience?.generation ?? null}
            AND loaded.key = f.key AND loaded.etag = f.etag AND loaded.size = f.size AND loaded.status = 2
        )
        ORDER BY place
      ) AS listed
    ) AS f
    RETURNING id
  `.execute(tx);
  return rows.length;
}

// Of each path of an audience one entry is shown. Jobs of a partner run in the order of their ids.

/** The file as it is now, if that was loaded before; else the one that comes. */
async function supersedeFiles(tx: Tx, job: AudienceJob, files: readonly FileToLoad[]): Promise<void> {
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
export async function supersedeByFailed(tx: Tx, jobId: JobId): Promise<void> {
  await sql`
    UPDATE job_file f SET superseded = true FROM audience_load own JOIN partner p ON p.id = own.partner_id
    WHERE own.job_id = ${jobId} AND f.audience_id = own.audience_id AND f.generation = own.generation
      AND f.key = p.prefix || own.file_path AND NOT f.superseded
  `.execute(tx);
}
