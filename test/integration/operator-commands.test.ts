import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { apiClient, type ApiClient } from '../acceptance/api-client.ts';
import { device } from '../support/device-id.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { runOperator } from '../support/run-operator.ts';
import { startApi, startWorker, stopProcess, type ServiceProcess } from '../support/running-service.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

const findingsSchema = z.array(
  z.object({ check: z.string(), status: z.enum(['ok', 'failed', 'skipped']), message: z.string() }),
);
const lanesSchema = z.array(z.object({ partner: z.string(), open_jobs: z.int(), state: z.string() }));
const jobSchema = z.object({
  job_id: z.int(),
  partner: z.string(),
  kind: z.string(),
  status: z.string(),
  file_path: z.string(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
const shownJobSchema = jobSchema.extend({
  files: z.array(z.object({ path: z.string(), status: z.string(), attempts: z.int(), accepted_rows: z.int() })),
});

describe('the operator commands', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let api: ServiceProcess & { readonly url: string };
  let client: ApiClient;

  beforeAll(async () => {
    stores = await createStores('two');
    partner = await createPartner(stores.environment);
    api = await startApi(stores.environment, 'operator');
    client = apiClient(api.url, partner.apiKey);
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await stores.drop();
  });

  const inlet = async (
    parameters: string[],
    settings: Record<string, string> = {},
  ): Promise<{ code: number; text: string }> => {
    const { code, out, err } = await runOperator({ ...stores.environment, ...settings }, parameters);
    return { code, text: out + err };
  };
  const wrongOnes = async (settings: Record<string, string> = {}): Promise<string[]> => {
    const { code, text } = await inlet(['doctor', '--json'], settings);
    const findings = findingsSchema.parse(JSON.parse(text));
    expect(findings.length).toBeGreaterThan(10);
    const wrong = findings.filter(({ status }) => status !== 'ok').map(({ check }) => check);
    expect(code).toBe(wrong.length === 0 ? 0 : 1);
    return wrong;
  };

  it('inlet doctor reports only the missing worker', async () => {
    expect(await wrongOnes()).toEqual(['Workers']);
    const { text } = await inlet(['doctor']);
    expect(text).toContain('FAIL   Workers: no worker is connected');
    expect(text).toContain('Start at least one worker.');
    expect(text).toContain('ok     ClickHouse, shard 2: ');
    expect(text).toMatch(/ok {5}PostgreSQL: version \S.*, \d+ of \d+ connections in use/);
  });

  it('inlet doctor reports each server separately when one is down', async () => {
    const [first = ''] = (stores.environment['INLET_CLICKHOUSE_URLS'] ?? '').split(',');
    const unreachable = new URL(first);
    unreachable.port = '9';
    const down = { INLET_CLICKHOUSE_URLS: `${first},${unreachable.href}`, INLET_S3_ENDPOINT: 'http://127.0.0.1:9' };
    expect(await wrongOnes(down)).toEqual([
      'Workers',
      'ClickHouse, shard 2',
      'Schema of shard 2',
      'Clock of shard 2',
      'Privileges on shard 2',
      'Disk of shard 2',
      'Damaged parts of shard 2',
      'Mutations of shard 2',
      'Topology',
      'Tables',
      'Load IDs',
      'Shared bucket',
      'Uploads',
      'Notifications',
    ]);
    // Only the cause is reported, because remedies for its consequences would be misleading.
    const { text: printed } = await inlet(['doctor'], down);
    expect(printed).toContain('FAIL   ClickHouse, shard 2: connect ECONNREFUSED 127.0.0.1:9 (');
    expect(printed).toContain('SKIP   Schema of shard 2: fix "ClickHouse, shard 2" first\n');
    expect(printed).not.toContain('inlet migrate');
    const postgres = new URL(stores.environment['INLET_POSTGRES_URL'] ?? '');
    Object.assign(postgres, { port: '9', password: 'not-to-be-printed' });
    const { text } = await inlet(['doctor'], { INLET_POSTGRES_URL: postgres.href });
    expect(text).toContain('FAIL   PostgreSQL: connect ECONNREFUSED 127.0.0.1:9');
    expect(text).toContain('ok     Shared bucket');
    expect(text).not.toContain('not-to-be-printed');
  });

  it('inlet doctor reports a missing or unused API role', async () => {
    expect(await wrongOnes({ INLET_API_ROLE: 'missing_role' })).toEqual(['API role', 'Workers']);
    const { text } = await inlet(['doctor'], { INLET_API_ROLE: 'missing_role' });
    expect(text).toContain('CREATE ROLE missing_role NOLOGIN; GRANT missing_role TO');
    const without = await inlet(['doctor'], { INLET_API_ROLE: 'none' });
    expect(without.text).toContain('ok     API role: none; the api can read the rows of all partners');
  });

  it('inlet lanes and inlet jobs show waiting jobs, the reason, and the result', async () => {
    const sport = await partner.createAttribute('sport');
    await partner.upload('a.csv', `${device(1)},${sport}\n`);
    const good = await client.queue({ file_path: 'a.csv', key_type: 0 });
    const missing = await client.queue({ file_path: 'missing.csv', key_type: 0 });
    const lanes = async () => lanesSchema.parse(JSON.parse((await inlet(['lanes', '--json'])).text));
    expect(await lanes()).toEqual([{ partner: partner.name, open_jobs: 2, state: 'waiting for a worker' }]);
    const worker = await startWorker(stores.environment, 'operator');
    await client.waitForEnd(missing);
    await waitUntil('no lane has anything to do', async () => (await lanes()).length === 0);
    await stopProcess(worker.child);
    const listed = z
      .array(jobSchema)
      .parse(JSON.parse((await inlet(['jobs', '--json', '--partner', partner.name])).text));
    expect(listed.map(({ error, ...job }) => ({ ...job, code: error?.code }))).toEqual([
      {
        job_id: missing,
        partner: partner.name,
        kind: 'import',
        status: 'failed',
        file_path: 'missing.csv',
        code: 'no_files',
      },
      { job_id: good, partner: partner.name, kind: 'import', status: 'done', file_path: 'a.csv', code: undefined },
    ]);
    const failed = await inlet(['jobs', 'list', '--json', '--status', 'failed', '--limit', '1']);
    expect(
      z
        .array(jobSchema)
        .parse(JSON.parse(failed.text))
        .map(({ job_id }) => job_id),
    ).toEqual([missing]);
    const shown = shownJobSchema.parse(JSON.parse((await inlet(['jobs', 'show', '--json', String(good)])).text));
    expect(shown.files).toEqual([{ path: 'a.csv', status: 'done', attempts: 1, accepted_rows: 1 }]);
    const unknown = await inlet(['jobs', 'show', '999999']);
    expect([unknown.code, unknown.text]).toEqual([1, expect.stringContaining('Job 999999 does not exist.')]);
    const wrong = await inlet(['jobs', 'list', '--status', 'x']);
    expect([wrong.code, wrong.text]).toEqual([2, expect.stringContaining('pending, running, done, failed')]);
  });
});
