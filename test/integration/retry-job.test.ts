import { userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { cancelJob } from '../../src/usecases/admin/manage-jobs.ts';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { type AudienceClient, audienceClient } from '../acceptance/audience-client.ts';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import type { Ran } from '../support/run-inlet.ts';
import { runOperator } from '../support/run-operator.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { attributesOf } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, wireUp } from '../support/wired.ts';

const auditEntry = z.looseObject({
  event: z.string(),
  subject_id: z.int().nullable(),
  actor: z.string(),
  detail: z.unknown(),
});
const retriedSchema = z.strictObject({ job_id: z.int(), retry_of: z.int() });

describe('inlet jobs retry', () => {
  let stores: TestStores;
  let deps: Wired;
  let server: ServiceProcess & { readonly url: string };
  let worker: ServiceProcess | null = null;
  let partner: TestPartner;
  let api: ApiClient;
  let audiences: AudienceClient;
  let sport: number;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    server = await startApi(stores.environment, 'retry-job');
    partner = await createPartner(stores.environment);
    api = apiClient(server.url, partner.apiKey);
    audiences = audienceClient(server.url, partner.apiKey);
    sport = await partner.createAttribute('sport', 'sports');
  });
  afterAll(async () => {
    await stopProcess(server.child);
    if (worker) await stopProcess(worker.child);
    await deps.close();
    await stores.drop();
  });

  const inlet = (...parameters: string[]): Promise<Ran> => runOperator(stores.environment, parameters);
  const retry = async (jobId: number): Promise<number> => {
    const { code, out, err } = await inlet('jobs', 'retry', String(jobId), '--json');
    expect(code, err).toBe(0);
    const { job_id: id, retry_of: retried } = retriedSchema.parse(JSON.parse(out));
    expect(retried).toBe(jobId);
    expect(err).toContain(`inlet jobs show ${id}`);
    return id;
  };
  const refusal = async (action: 'cancel' | 'retry', jobId: number | string): Promise<string> => {
    const { code, out, err } = await inlet('jobs', action, String(jobId));
    expect([code === 0, out]).toEqual([false, '']);
    return err;
  };
  const newestJob = async (): Promise<number> => {
    const [job] = await deps.operations.listJobs({
      partner: partner.name,
      statuses: [0, 1, 2, 3],
      beforeId: Number.MAX_SAFE_INTEGER,
      limit: 1,
    });
    return job?.id ?? 0;
  };

  // No job runs without a worker, so a canceled job fails immediately.

  it('rejects a job that has not failed and a job that only the partner can submit again', async () => {
    const waiting = await api.queue({ file_path: 'a.csv', key_type: 0 });
    expect(await refusal('retry', waiting)).toContain(`job_not_retryable: Job ${waiting} is not finished`);
    const credentials = { accessKeyId: 'AKIARETRYRETRY', secretAccessKey: 'not-a-real-secret', region: 'eu-central-1' };
    rememberSecrets(credentials.secretAccessKey);
    const own = await api.queue({ file_path: 's3://their-bucket/a.csv', path_type: 1, key_type: 0, credentials });
    const body = JSON.stringify({ key_type: 0, keys: [String(sport)] });
    const answer = await api.request('/v1/marketplace/import', { method: 'DELETE', body });
    const { import_log_id: gone } = queuedSchema.parse(await answer.json());
    for (const id of [waiting, own, gone]) await cancelJob(deps, id);
    expect(await refusal('retry', own)).toContain('the partner must submit the import again');
    expect(await refusal('retry', gone)).toContain('is a delete');
    const sealed = await withDatabase(stores, (client) => client.query('SELECT FROM job_credential'));
    expect(sealed.rowCount).toBe(0);
    expect(await api.get(gone)).toMatchObject({ status: 3, errors: [{ code: 'job_cancelled', file: null }] });
    expect(await refusal('cancel', gone)).toContain(`job_not_cancellable: Job ${gone} has already failed.`);
  });

  it('rejects a job whose audience has since been cleared', async () => {
    const { audienceId } = await audiences.create('Cleared', 'members.csv');
    const jobId = await newestJob();
    await audiences.clear(audienceId);
    expect(await refusal('retry', jobId)).toContain(`audience ${audienceId}, which has been cleared`);
  });

  it('rejects an unknown job, as inlet jobs cancel does', async () => {
    for (const action of ['cancel', 'retry'] as const)
      expect(await refusal(action, 999_999)).toContain(
        'not_found: Job 999999 does not exist. Run `inlet jobs list` to see the jobs.',
      );
    expect(await refusal('cancel', 'x')).toContain('"x" is not a valid job ID.');
  });

  it('records in the audit log who canceled and retried a job, but not what the partner does', async () => {
    const entries = async () => {
      const { out } = await inlet('audit-log', '--partner', partner.name, '--limit', '1000', '--json');
      return z
        .array(auditEntry)
        .parse(JSON.parse(out))
        .filter(({ event }) => event.startsWith('job.'));
    };
    const before = (await entries()).length;
    const id = await api.queue({ file_path: 'a.csv', key_type: 0 });
    expect(await entries()).toHaveLength(before);
    expect((await inlet('jobs', 'cancel', String(id))).code).toBe(0);
    const retried = await retry(id);
    const all = await entries();
    const added = all.slice(0, all.length - before);
    expect(added.map(({ event, subject_id }) => [event, subject_id])).toEqual([
      ['job.insert', retried],
      ['job.update', id],
    ]);
    for (const { actor } of added) expect(actor).toContain(userInfo().username);
    expect(added[1]?.detail).toMatchObject({ after: { cancel_requested_by: 'operator' } });
    const byPartner = await api.request(`/v1/marketplace/import/${retried}/cancel`, { method: 'POST' });
    expect(byPartner.status).toBeLessThan(300);
    expect(await entries()).toHaveLength(before + 2);
  });

  it('submits the same import again with all of its options', async () => {
    const request = { file_path: 'late/', key_type: 1, compressed: false, mode: 'replace' };
    const failed = await api.queue(request);
    worker ??= await startWorker(stores.environment, 'retry-job');
    expect(await api.waitForEnd(failed)).toMatchObject({ status: 3, errors: [{ code: 'no_files' }] });
    const before = await api.queue({ file_path: 'before.csv', key_type: 0 });
    await partner.upload('late/a.csv', `${device(1)},sports\n`);
    await api.waitForEnd(before);
    const again = await retry(failed);
    expect(await api.waitForEnd(again)).toMatchObject({ status: 2, file_path: 'late/', key_type: 1, total_rows: '1' });
    expect(await attributesOf(stores, partner.id)).toEqual([`${sport} ${device(1)}`]);
    const original = async (id: number) => (await deps.operations.findRequest(id))?.original;
    expect(await original(again)).toEqual(await original(failed));
    expect(await original(again)).toMatchObject({ request: { compressed: false, mode: 'replace' } });
    expect(await api.get(failed)).toMatchObject({ status: 3 });
    expect(await refusal('retry', again)).toContain(`Job ${again} is done`);
  });

  it('appends the same path to the same audience, even for a customer', async () => {
    worker ??= await startWorker(stores.environment, 'retry-job');
    const { userToken } = await partner.createCustomer('Customer');
    const ofCustomer = audienceClient(server.url, partner.apiKey, userToken);
    // The path repeats the partner's prefix.
    const path = `${partner.prefix}${partner.prefix}members.csv`;
    const { audienceId } = await ofCustomer.create('Late', path);
    expect(await ofCustomer.settled(audienceId)).toMatchObject({ status: 3, file: [{ s3_path: path }] });
    await partner.upload(`${partner.prefix}members.csv`, rows(0, 5));
    await retry(await newestJob());
    await waitUntil('the file is loaded', async () => (await ofCustomer.get(audienceId)).unique_devices === 5);
    expect(await ofCustomer.settled(audienceId)).toMatchObject({ status: 2, file: [{ s3_path: path, status: 2 }] });
  });
});
