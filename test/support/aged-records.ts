import type { Client } from 'pg';
import { type TestStores, withDatabase } from './stores.ts';

export type History = {
  readonly jobs: number;
  readonly files: number;
  readonly partners: number;
  readonly days: number;
};

/** The IDs of generated rows start here, so that they do not collide with rows that a test creates. */
const firstId = 1_000_000_000;

/** The partner with the most generated jobs. */
export const busiestPartner = firstId + 1;

const audiencesPerPartner = 20;

/**
 * Fills a database with the records of finished jobs. A few partners have most of the jobs. Most jobs have one file,
 * and a few have hundreds. Every third audience has one generation, and the others are cleared after every tenth job.
 */
export function fillWithHistory(stores: TestStores, history: History): Promise<void> {
  return runInBulk(stores, statementsFor(history));
}

/** Runs statements that insert jobs and files, without triggers, foreign keys, and secondary indexes. */
export async function runInBulk(stores: TestStores, statements: readonly string[]): Promise<void> {
  await withDatabase(stores, async (client) => {
    await client.query(
      `SET session_replication_role = replica; SET statement_timeout = 0; SET maintenance_work_mem = '512MB'`,
    );
    await client.query('SELECT setseed(0.5)');
    const indexes = await dropIndexes(client);
    for (const statement of statements) await client.query(statement);
    for (const index of indexes) await client.query(index);
    await client.query('ANALYZE');
  });
}

async function dropIndexes(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = ANY (ARRAY['job', 'job_file', 'import_log', 'audience_load', 'load_account']::regclass[])
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  return rows.map(({ definition }) => definition);
}

function statementsFor({ jobs, files, partners, days }: History): string[] {
  const jobsWithFiles = 0.95;
  // Of 100 jobs with files, 90 have one file, 9 have ten, and one has the rest.
  const filesOfLargest = Math.max(1, Math.round((files / (jobs * jobsWithFiles) - 1.8) * 100));
  const first = firstId;
  return [
    `INSERT INTO partner (id, name, prefix)
     SELECT ${first} + n, 'aged-' || n, 'aged-' || n || '/' FROM generate_series(1, ${partners}) AS n`,
    `INSERT INTO audience (id, partner_id, name)
     SELECT ${first} + (n - 1) * ${audiencesPerPartner} + a, ${first} + n, 'audience ' || a
     FROM generate_series(1, ${partners}) AS n, generate_series(1, ${audiencesPerPartner}) AS a`,
    `CREATE TEMP TABLE drawn AS
     SELECT n, 1 + floor(${partners} * random() ^ 3)::int AS partner,
       CASE WHEN r < 0.05 THEN 'delete' WHEN r < 0.3 THEN 'audience' ELSE 'import' END AS kind,
       1 + floor(random() * ${audiencesPerPartner})::int AS audience, random() AS size,
       now() - make_interval(secs => ${days} * 86400 * (1 - n::float8 / ${jobs}) + 600) AS at
     FROM (SELECT n, random() AS r FROM generate_series(1, ${jobs}) AS n) AS numbers`,
    `INSERT INTO job (id, partner_id, seq, kind, status, created_at, updated_at, listed_at, finished_at, failure_code)
     SELECT ${first} + n, ${first} + partner, row_number() OVER (PARTITION BY partner ORDER BY n), kind,
       CASE WHEN n % 50 = 0 THEN 3 ELSE 2 END, at, at + interval '1 minute', at, at + interval '1 minute',
       CASE WHEN n % 50 = 0 THEN 'file_failed' END
     FROM drawn ORDER BY n`,
    `UPDATE partner SET next_seq = 1 + (SELECT count(*) FROM drawn WHERE ${first} + drawn.partner = partner.id) WHERE id > ${first}`,
    `INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type, total_rows, unique_devices, bytes_total)
     SELECT ${first} + n, ${first} + partner, CASE kind WHEN 'delete' THEN 1 ELSE 0 END, 'daily/' || n || '/', 0, 1, 1000, 900, 20000
     FROM drawn WHERE kind <> 'audience' ORDER BY n`,
    `CREATE TEMP TABLE loaded AS
     SELECT n, partner, audience_id,
       CASE WHEN audience_id % 3 = 0 THEN 0 ELSE ((row_number() OVER (PARTITION BY audience_id ORDER BY n) - 1) / 10)::int END AS generation
     FROM (SELECT n, partner, ${first} + (partner - 1) * ${audiencesPerPartner} + audience AS audience_id
           FROM drawn WHERE kind = 'audience') AS load`,
    `INSERT INTO audience_load (job_id, partner_id, audience_id, generation, file_path)
     SELECT ${first} + n, ${first} + partner, audience_id, generation, 'daily/' || n || '/' FROM loaded ORDER BY n`,
    `UPDATE audience SET generation = last.generation
     FROM (SELECT audience_id, max(generation) AS generation FROM loaded GROUP BY audience_id) AS last
     WHERE audience.id = last.audience_id`,
    `INSERT INTO dead_generation (audience_id, generation, partner_id, dead_at, purged_at)
     SELECT l.audience_id, l.generation, min(audience.partner_id), now() - interval '20 days', now() - interval '20 days'
     FROM loaded l JOIN audience ON audience.id = l.audience_id
     WHERE l.generation < audience.generation AND l.generation > audience.generation - 3 GROUP BY 1, 2`,
    `INSERT INTO job_file (id, batch_id, job_id, partner_id, key, path, etag, size, status, load_id, total_rows, accepted_rows,
       bytes_read, audience_id, generation, updated_at)
     SELECT ${first} + row_number() OVER (), ${first} + row_number() OVER (), ${first} + d.n, ${first} + d.partner,
       'aged-' || d.partner || '/daily/' || d.n || '/' || lpad(f::text, 5, '0') || '.csv.gz', 'daily/' || d.n || '/' || lpad(f::text, 5, '0') || '.csv.gz',
       md5(d.n::text), 20000, CASE WHEN d.n % 50 = 0 AND f = 1 THEN 3 ELSE 2 END, ${first} + d.n, 1000, 990, 20000,
       l.audience_id, l.generation, d.at + interval '1 minute'
     FROM drawn d LEFT JOIN loaded l ON l.n = d.n,
       generate_series(1, CASE WHEN d.size < 0.9 THEN 1 WHEN d.size < 0.99 THEN 10 ELSE ${filesOfLargest} END) AS f
     WHERE d.kind <> 'delete'`,
    `INSERT INTO job_file_reject (job_file_id, reason, rows, first_row)
     SELECT id, 'invalid_id', 10, 5 FROM job_file WHERE id > ${first} AND id % 30 = 0`,
    `INSERT INTO load_account (load_id, partner_id, job_id, staged_rows, published_at)
     SELECT ${first} + n, ${first} + partner, ${first} + n, '[990]', at FROM drawn WHERE kind <> 'delete' ORDER BY n`,
    `INSERT INTO audit_log (at, event, actor, partner_id, operation, code)
     SELECT at, 'call.denied', 'key 1', ${first} + partner, 'listImportLogs', 'scope_missing' FROM drawn WHERE n % 4 = 0 ORDER BY n`,
    ...recentAudiences(jobs),
  ];
}

/** Clears the busiest partner's audiences and loads 20 files into each, so that they are the same in every history. */
function recentAudiences(jobs: number): string[] {
  const jobId = `${firstId} + ${jobs} + (audience.id - ${firstId})`;
  const own = `partner_id = ${busiestPartner}`;
  return [
    `UPDATE audience SET generation = generation + 1 WHERE ${own}`,
    `INSERT INTO job (id, partner_id, seq, kind, status, listed_at, finished_at)
     SELECT ${jobId}, partner_id, next_seq + audience.id - ${firstId}, 'audience', 2, now(), now()
     FROM audience JOIN partner ON partner.id = audience.partner_id WHERE ${own}`,
    `UPDATE partner SET next_seq = next_seq + ${audiencesPerPartner} + 1 WHERE id = ${busiestPartner}`,
    `INSERT INTO audience_load (job_id, partner_id, audience_id, generation, file_path)
     SELECT ${jobId}, partner_id, audience.id, generation, 'recent/' FROM audience WHERE ${own}`,
    `INSERT INTO job_file (id, batch_id, job_id, partner_id, key, path, etag, size, status, load_id, audience_id, generation)
     SELECT (SELECT max(id) FROM job_file) + row_number() OVER (), 1, ${jobId}, partner_id, 'aged-1/recent/' || n, 'recent/' || n, 'e', 1, 2,
       ${jobId}, audience.id, generation
     FROM audience, generate_series(1, 20) AS n WHERE ${own}`,
    // IDs that the service assigns follow the generated IDs.
    ...['job', 'job_file', 'audience', 'partner'].map(
      (table) => `SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT max(id) FROM ${table}))`,
    ),
  ];
}
