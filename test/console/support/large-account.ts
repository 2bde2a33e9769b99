import { deviceOfNumber, insertByNumbers } from '../../support/audience-tables.ts';
import { runInBulk } from '../../support/aged-records.ts';
import { type TestStores, withDatabase } from '../../support/stores.ts';

/** IDs of generated rows start here, so that they do not collide with rows that a test creates. */
const first = 1_000_000_000;
const imports = 1_000_000;
const audiences = 100_000;
const attributes = 5_000;
const files = 10_000;
const rejectsPerFile = 1_000;
/** ClickHouse keeps the first rejected rows of each reason and file. */
const keptRejectsPerFile = 100;

/** An import with 10,000 files, each with 1,000 rejected rows. */
const largeImport = first + imports + 1;
/** The first audience, whose report has 5,000 attributes. */
const largeAudience = first + 1;

const devices = 100_000;
const devicesPerAttribute = 2_000;
const devicesOfAudience = 50_000;

export type LargeAccount = { readonly importLogId: number; readonly audienceId: number; readonly segmentId: number };

/** Fills a partner's account with SQL statements. This takes about two minutes. */
export async function fillLargeAccount(stores: TestStores, partnerId: number): Promise<LargeAccount> {
  await runInBulk(stores, [...importsOf(partnerId), ...audiencesOf(partnerId), ...attributesOf(partnerId)]);
  await fillEngine(stores, partnerId);
  return withDatabase(stores, async (client) => {
    // The worker folds only rows that an import or a load has published, but these rows were inserted directly.
    await client.query('SELECT note_all_index_changes()');
    const { rows } = await client.query<{ segment: string }>(
      'SELECT warehouse_segment_id AS segment FROM audience WHERE id = $1',
      [largeAudience],
    );
    return { importLogId: largeImport, audienceId: largeAudience, segmentId: Number(rows[0]?.segment) };
  });
}

function importsOf(partnerId: number): string[] {
  const errors = JSON.stringify([
    {
      code: 'invalid_id',
      message: 'invalid',
      file: 'large/00001.csv.gz',
      row: 1,
      column: 'id',
      count: files * rejectsPerFile,
    },
  ]);
  return [
    `INSERT INTO job (id, partner_id, seq, kind, status, created_at, updated_at, listed_at, finished_at, cleaned_at, failure_code)
     SELECT ${first} + n, ${partnerId}, n, 'import', CASE WHEN n % 50 = 0 THEN 3 ELSE 2 END, at, at, at, at, at,
       CASE WHEN n % 50 = 0 THEN 'file_failed' END
     FROM generate_series(1, ${imports} + 1) AS n, LATERAL (SELECT now() - make_interval(secs => (${imports} + 1 - n) * 30) AS at) AS times`,
    `INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type, total_rows, unique_devices, bytes_total)
     SELECT ${first} + n, ${partnerId}, 0, 'daily/' || n || '/', 0, 1, 1000, 900, 20000 FROM generate_series(1, ${imports}) AS n`,
    `INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type, total_rows, unique_devices, bytes_total, errors)
     VALUES (${largeImport}, ${partnerId}, 0, 'large/', 0, 1, ${files * rejectsPerFile * 2}, 900, 20000, '${errors}')`,
    fileRows(partnerId, `${first} + n`, `'daily/' || n || '/1.csv.gz'`, imports, 0),
    fileRows(partnerId, String(largeImport), `'large/' || lpad(n::text, 5, '0') || '.csv.gz'`, files, imports),
    `INSERT INTO job_file_reject (job_file_id, reason, rows, first_row)
     SELECT ${first + imports} + n, 'invalid_id', ${rejectsPerFile}, 1 FROM generate_series(1, ${files}) AS n`,
  ];
}

/** The files of jobs. `n` counts them, and `offset` is the number of files before them. */
function fileRows(
  partnerId: number,
  jobId: string,
  path: string,
  count: number,
  offset: number,
  audience = 'NULL',
): string {
  const accepted = offset === imports ? rejectsPerFile : 1_000;
  const total = offset === imports ? rejectsPerFile * 2 : 1_000;
  return `INSERT INTO job_file (id, batch_id, job_id, partner_id, key, path, etag, size, status, load_id, total_rows, accepted_rows,
      bytes_read, audience_id, generation)
    SELECT ${first + offset} + n, ${first + offset} + n, ${jobId}, ${partnerId}, 'large-account/' || ${path}, ${path}, md5(n::text), 20000, 2,
      ${first + offset} + n, ${total}, ${accepted}, 20000, ${audience}, CASE WHEN ${audience}::bigint IS NOT NULL THEN 0 END
    FROM generate_series(1, ${count}) AS n`;
}

function audiencesOf(partnerId: number): string[] {
  const jobId = `${largeImport} + n`;
  return [
    `INSERT INTO audience (id, partner_id, name, uploaded_devices, unique_devices, matched_devices, matched_at, last_load_id)
     SELECT ${first} + n, ${partnerId}, 'audience ' || n, ${devicesOfAudience}, ${devicesOfAudience}, ${devicesOfAudience}, now(),
       ${first + imports + files} + n
     FROM generate_series(1, ${audiences}) AS n`,
    `INSERT INTO job (id, partner_id, seq, kind, status, listed_at, finished_at, cleaned_at)
     SELECT ${jobId}, ${partnerId}, ${imports} + 1 + n, 'audience', 2, now(), now(), now() FROM generate_series(1, ${audiences}) AS n`,
    `INSERT INTO audience_load (job_id, partner_id, audience_id, generation, file_path)
     SELECT ${jobId}, ${partnerId}, ${first} + n, 0, 'members/' || n || '/' FROM generate_series(1, ${audiences}) AS n`,
    fileRows(partnerId, jobId, `'members/' || n || '/1.csv.gz'`, audiences, imports + files, `${first} + n`),
  ];
}

function attributesOf(partnerId: number): string[] {
  return [
    `INSERT INTO attribute (id, partner_id, name)
     SELECT ${first} + n, ${partnerId}, 'attribute ' || n FROM generate_series(1, ${attributes}) AS n`,
    `INSERT INTO attribute_foreign_key (partner_id, foreign_key, attribute_id)
     SELECT ${partnerId}, 'key-' || n, ${first} + n FROM generate_series(1, ${attributes}) AS n`,
    // IDs that the service assigns follow the generated IDs.
    `UPDATE partner SET next_seq = ${imports + audiences + 2} WHERE id = ${partnerId}`,
    ...['job', 'job_file', 'audience', 'attribute'].map(
      (table) => `SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT max(id) FROM ${table}))`,
    ),
    `SELECT setval('load_id', ${first * 2})`,
  ];
}

async function fillEngine(stores: TestStores, partnerId: number): Promise<void> {
  await insertByNumbers(stores, 'known_devices', `SELECT ${deviceOfNumber} FROM numbers(${devices})`);
  await insertByNumbers(
    stores,
    'device_attributes',
    `SELECT ${partnerId}, ${first} + 1 + entry % ${attributes}, ${deviceOfNumber}, if(number % 4 = 0, 1, 3), if(number % 10 = 0, 'FR', 'DE'), 1, 0
     FROM (SELECT entry, hash % ${devices} AS number
       FROM (SELECT number AS entry, cityHash64(number) AS hash FROM numbers(${attributes * devicesPerAttribute})))`,
  );
  await insertByNumbers(
    stores,
    'audience_devices',
    `SELECT ${partnerId}, ${largeAudience}, 0, ${deviceOfNumber}, if(number % 3 = 0, 'buy', 'view'), ${first + imports + files + 1}
     FROM numbers(${devicesOfAudience})`,
  );
  await insertByNumbers(
    stores,
    'load_rejects',
    `SELECT ${first + imports} + 1 + intDiv(number, ${keptRejectsPerFile}) AS load_id, load_id AS file_id, 'invalid_id',
       1 + number % ${keptRejectsPerFile}, concat('not-an-id-', toString(number), ',sport'), today()
     FROM numbers(${files * keptRejectsPerFile})`,
  );
}
