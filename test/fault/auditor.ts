import { verifyDeviceIndex } from '../../src/entry/device-index.ts';
import { auditStoredRows } from '../../src/entry/row-audit.ts';
import { devicesOf } from '../support/audience-model.ts';
import { attributesOf, selectOnShards, stagedLoads } from '../support/shard-tables.ts';
import { type TestStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { auditEvents } from './audit-events.ts';
import type { Expected, ImportEnd } from './fault-partner.ts';
import { knownMembers } from './known-devices.ts';

// Compares both stores with the partners' own records after all work is done. Returns one sentence per finding.

type JobRow = {
  id: string;
  seq: string;
  kind: string;
  status: number;
  cancelled: boolean;
  finished_at: Date | null;
  cleaned_at: Date | null;
  rows: string | null;
  unique: string | null;
  /** One entry per file, ordered by key. */
  rows_of_files: number[] | null;
};

export async function audit(stores: TestStores, partners: readonly Expected[]): Promise<string[]> {
  const found = [];
  for (const partner of partners) {
    found.push(
      ...(await auditJobs(stores, partner)),
      ...(await auditPairs(stores, partner)),
      ...(await auditAudiences(stores, partner)),
      ...(await auditEvents(stores, partner.id)),
    );
  }
  return [
    ...found,
    ...(await auditLeftovers(stores)),
    ...(await auditRows(stores)),
    ...(await verifyDeviceIndex(stores.config)),
  ];
}

/** Runs `inlet audit`, which compares the records with the engine without knowing what the partners submitted. */
async function auditRows(stores: TestStores): Promise<string[]> {
  const found: string[] = [];
  await auditStoredRows({ partner: null, since: null }, (line) => found.push(line), stores.config);
  return found;
}

/** Repeats the audit until it has no findings or the time limit is reached. Returns the last findings. */
export async function waitForCleanAudit(runAudit: () => Promise<string[]>, seconds: number): Promise<string[]> {
  let wrong: string[] = [];
  const isClean = async (): Promise<boolean> => {
    wrong = await runAudit();
    return wrong.length === 0;
  };
  await waitUntil('the auditor finds nothing', isClean, seconds, 250).catch(() => undefined);
  return wrong;
}

async function auditJobs(stores: TestStores, { id, submitted }: Expected): Promise<string[]> {
  const jobs = await select<JobRow>(
    stores,
    `SELECT j.*, l.total_rows AS rows, l.unique_devices AS "unique",
       (SELECT array_agg(total_rows::int ORDER BY key) FROM job_file WHERE job_id = j.id) AS rows_of_files
     FROM job j LEFT JOIN import_log l ON l.job_id = j.id
     WHERE j.partner_id = $1 ORDER BY seq`,
    [id],
  );
  const wrong =
    jobs.length === submitted.length
      ? []
      : [`partner ${id}: ${submitted.length} jobs submitted, ${jobs.length} stored`];
  const imports = submitted.filter(({ kind }) => kind === 'import');
  const order = jobs.filter(({ kind }) => kind !== 'audience').map((job) => Number(job.id));
  if (String(order) !== String(imports.map((one) => one.id))) wrong.push(`partner ${id}: imports are out of order`);
  let last = 0;
  for (const job of jobs) {
    const name = `partner ${id}, job ${job.id} (${job.kind}, seq ${job.seq})`;
    if (job.status < 2 || !job.finished_at) wrong.push(`${name}: not finished, status ${job.status}`);
    if (job.cancelled && !job.cleaned_at) wrong.push(`${name}: canceled and not cleaned up`);
    if (job.cancelled && job.kind !== 'audience') wrong.push(`${name}: canceled without a request`);
    if (job.kind === 'audience' && !job.cancelled && job.status !== 2)
      wrong.push(`${name}: status ${job.status}, not 2`);
    if (job.cancelled || !job.finished_at) continue;
    if (job.finished_at.getTime() < last) wrong.push(`${name}: finished before an earlier job`);
    last = job.finished_at.getTime();
    const expected = imports.find((one) => one.id === Number(job.id));
    if (expected?.kind !== 'import') continue;
    if (expected.status !== job.status) wrong.push(`${name}: status ${job.status}, not ${expected.status}`);
    wrong.push(...auditRecord(name, job, expected));
  }
  return wrong;
}

function auditRecord(name: string, job: JobRow, { rows, unique }: ImportEnd): string[] {
  const wrong: string[] = [];
  if (rows !== null) {
    const total = rows.reduce((sum, one) => sum + one, 0);
    if (Number(job.rows) !== total) wrong.push(`${name}: ${job.rows} rows, not ${total}`);
    const ofFiles = job.rows_of_files ?? [];
    if (String(ofFiles) !== String(rows)) wrong.push(`${name}: files with ${ofFiles.join()} rows, not ${rows.join()}`);
  }
  if (unique !== null && Number(job.unique) !== unique) wrong.push(`${name}: ${job.unique} devices, not ${unique}`);
  return wrong;
}

async function auditPairs(stores: TestStores, { id, pairs }: Expected): Promise<string[]> {
  const stored = new Set(await attributesOf(stores, id));
  return differences(`partner ${id}, attribute and device`, stored, pairs);
}

type AudienceRow = { id: string; generation: string; uploaded: string; unique: string; matched: string };

async function auditAudiences(stores: TestStores, { id, audiences }: Expected): Promise<string[]> {
  const rows = await select<AudienceRow>(
    stores,
    `SELECT id, generation, uploaded_devices AS uploaded, unique_devices AS "unique", matched_devices AS matched
     FROM audience WHERE partner_id = $1`,
    [id],
  );
  const wrong =
    rows.length === audiences.size ? [] : [`partner ${id}: ${rows.length} audiences, not ${audiences.size}`];
  for (const row of rows) {
    const name = `partner ${id}, audience ${row.id}`;
    const model = audiences.get(Number(row.id));
    if (!model) {
      wrong.push(`${name}: unexpected`);
      continue;
    }
    const members = await selectOnShards(
      stores,
      `SELECT concat(toString(device), ' ', event) FROM audience_devices_local FINAL
       WHERE partner_id = ${id} AND audience_id = ${row.id} AND generation = ${row.generation}`,
    );
    wrong.push(...differences(`${name}, member`, new Set(members), model.members));
    if (members.length !== new Set(members).size) wrong.push(`${name}: a member is on two shards`);
    const devices = devicesOf(model);
    const matched = devices.intersection(knownMembers).size;
    const counts = { uploaded: model.uploaded, unique: devices.size, matched };
    for (const what of ['uploaded', 'unique', 'matched'] as const) {
      if (Number(row[what]) !== counts[what]) wrong.push(`${name}: ${what} ${row[what]}, not ${counts[what]}`);
    }
    const dead = await selectOnShards(
      stores,
      `SELECT DISTINCT generation FROM audience_devices_local WHERE audience_id = ${row.id} AND generation != ${row.generation}`,
    );
    if (dead.length > 0) wrong.push(`${name}: rows of cleared generations: ${dead.join()}`);
  }
  return wrong;
}

/** After all work is done, there must be no tokens, open files, credentials, or staged loads. */
async function auditLeftovers(stores: TestStores): Promise<string[]> {
  const wrong: string[] = [];
  const tokens = await select<{ name: string; singleton_key: string; state: string }>(
    stores,
    `SELECT name, singleton_key, state FROM pgboss.job WHERE state < 'completed'`,
    [],
  );
  for (const token of tokens) wrong.push(`leftover token: ${token.name} ${token.singleton_key}, ${token.state}`);
  const files = await select<{ id: string }>(
    stores,
    'SELECT f.id FROM job_file f JOIN job j ON j.id = f.job_id WHERE f.status < 2 AND NOT j.cancelled',
    [],
  );
  for (const file of files) wrong.push(`file ${file.id} is open`);
  const credentials = await select<{ job_id: string }>(stores, 'SELECT job_id FROM job_credential', []);
  for (const { job_id } of credentials) wrong.push(`leftover credentials of job ${job_id}`);
  for (const load of await stagedLoads(stores)) wrong.push(`load ${load} is staged`);
  const ofJobs = await selectOnShards(
    stores,
    `SELECT DISTINCT concat(table, ' ', partition_id) FROM system.parts WHERE database = currentDatabase() AND active
       AND rows > 0 AND table IN ('staged_devices_local', 'job_keys_local')`,
  );
  for (const left of ofJobs) wrong.push(`leftover rows of a job: ${left}`);
  return wrong;
}

function differences(what: string, stored: ReadonlySet<string>, expected: ReadonlySet<string>): string[] {
  return [
    ...Array.from(expected.difference(stored), (missing) => `${what} ${missing}: missing`),
    ...Array.from(stored.difference(expected), (extra) => `${what} ${extra}: unexpected`),
  ];
}

async function select<Row extends object>(stores: TestStores, query: string, values: unknown[]): Promise<Row[]> {
  return withDatabase(stores, async (client) => (await client.query<Row>(query, values)).rows);
}
