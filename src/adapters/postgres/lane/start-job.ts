import type { JobId, PartnerId } from '../../../domain/ids.ts';
import { sql } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';
import type { FileToLoad, AudienceJob } from '../../../ports/lane-store.ts';
import type { Database, Tx } from '../db/tables.ts';

/** Writes the list of files. Has an effect only once, so a second holder of the lane changes nothing. */
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

/** The same as for an import. Earlier entries for the same paths are superseded. */
export async function startAudienceLoad(
  db: Database,
  job: AudienceJob,
  batches: readonly (readonly FileToLoad[])[],
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const started = await markStarted(tx, job.id);
    if (!started) return 0;
    await supersedeFiles(tx, job, batches.flat());
    // Its own path was superseded at submission. This covers files that were missing then and exist now.
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

/** Moves a job from pending to running, once. Returns undefined if it is already running or canceled. */
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
  /** Files already loaded into this generation are skipped. */
  readonly audience: { readonly id: number; readonly generation: number } | null;
};

/** Inserts the files in order and returns their number. A batch's ID is the ID of its first file. */
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

// An audience shows one entry per path. A partner's jobs run in the order of their IDs.

/** Shows the loaded file if it is unchanged, and otherwise the new one. */
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

/** Supersedes earlier loads of these paths. */
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

/** The failed job replaces the file as the entry for its path. */
export async function supersedeByFailed(tx: Tx, jobId: JobId): Promise<void> {
  await sql`
    UPDATE job_file f SET superseded = true FROM audience_load own JOIN partner p ON p.id = own.partner_id
    WHERE own.job_id = ${jobId} AND f.audience_id = own.audience_id AND f.generation = own.generation
      AND f.key = p.prefix || own.file_path AND NOT f.superseded
  `.execute(tx);
}
