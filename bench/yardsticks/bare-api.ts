import Fastify from 'fastify';
import { Pool } from 'pg';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

// A minimal hand-written API: Fastify and pg with the statements of two Inlet operations, without API keys, limits,
// schemas, or logs. `api-operation.ts` starts it as a separate process, passes the settings on stdin and reads the
// address from stdout.

const given = z.object({ postgresUrl: z.string(), partnerId: z.int() });
const { postgresUrl, partnerId } = given.parse(JSON.parse(await text(process.stdin)));
const pool = new Pool({ connectionString: postgresUrl, max: 10 });
const api = Fastify();

type Body = { readonly file_path: string; readonly key_type: number };

api.post<{ Body: Body }>('/v1/marketplace/import', async ({ body }, reply) => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const taken = await client.query<{ seq: string }>(
      'UPDATE partner SET next_seq = next_seq + 1 WHERE id = $1 RETURNING next_seq - 1 AS seq',
      [partnerId],
    );
    const job = await client.query<{ id: string }>(
      `INSERT INTO job (partner_id, seq, kind) VALUES ($1, $2, 'import')
       RETURNING id, (SELECT count(*) + 1 FROM job WHERE partner_id = $1 AND status IN (0, 1)) AS open_jobs`,
      [partnerId, taken.rows[0]?.seq],
    );
    const id = Number(job.rows[0]?.id);
    await client.query(
      `INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type, mode)
       VALUES ($1, $2, 0, $3, 0, $4, 'merge')`,
      [id, partnerId, body.file_path, body.key_type],
    );
    await client.query(
      `INSERT INTO pgboss.job (name, data, singleton_key, policy) VALUES ('lane', $1, $2, 'exclusive')
       ON CONFLICT DO NOTHING`,
      [JSON.stringify({ partnerId }), String(partnerId)],
    );
    await client.query('COMMIT');
    return await reply.code(202).header('location', `/v1/marketplace/import/${id}`).send({ import_log_id: id });
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
});

api.get<{ Params: { id: string } }>('/v1/marketplace/import/:id', async ({ params }) => {
  const { rows } = await pool.query<Record<string, unknown>>(
    `SELECT job.id AS import_log_id, log.file_path, log.path_type, log.key_type, job.status, log.log_type, log.keys,
       log.unique_devices, log.total_rows, log.errors, job.created_at, job.updated_at, log.bytes_total,
       CASE WHEN job.status = 1 THEN (
         SELECT json_build_object('bytes', coalesce(sum(f.bytes_read), 0),
                                  'rows', coalesce(sum(greatest(f.rows_read, f.total_rows)), 0))
         FROM job_file f WHERE f.job_id = job.id) END AS read,
       (SELECT count(*) FROM job ahead WHERE ahead.partner_id = job.partner_id AND ahead.seq < job.seq
          AND ahead.status IN (0, 1) AND job.status IN (0, 1)) AS jobs_ahead,
       extract(epoch FROM now() - job.listed_at)::float8 AS running_seconds
     FROM import_log log JOIN job ON job.id = log.job_id
     WHERE log.partner_id = $1 AND log.job_id = $2`,
    [partnerId, Number(params.id)],
  );
  return rows[0];
});

process.stdout.write(`${await api.listen({ host: '127.0.0.1', port: 0 })}\n`);
