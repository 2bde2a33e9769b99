import { sql } from 'kysely';
import type { FileToLoad } from '../../../ports/lane-store.ts';
import type { Tx } from '../connect.ts';

type Owner = {
  readonly jobId: number;
  readonly partnerId: number;
  /** Files that this generation of the audience has already are left out. */
  readonly audience: { readonly id: number; readonly generation: number } | null;
};

/** Writes the list of files, in its order; the files of a batch carry the id of the first. Gives how many were written. */
export async function insertFiles(tx: Tx, owner: Owner, batches: readonly (readonly FileToLoad[])[]): Promise<number> {
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
