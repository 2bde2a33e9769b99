import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cancelJob } from '../../src/usecases/admin/manage-jobs.ts';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { type AudienceClient, audienceClient } from '../acceptance/audience-client.ts';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import { leftovers } from '../support/leftovers.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';
import type { Ran } from '../support/run-inlet.ts';
import { runOperator } from '../support/run-operator.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { attributesOf, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, wireUp } from '../support/wired.ts';

// The storage is slow and then stalls, so work that runs during a cancellation would never end by itself.

describe('inlet jobs cancel during a load', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let deps: Wired;
  let storage: Proxy;
  let processes: ServiceProcess[];
  let api: ApiClient;
  let audiences: AudienceClient;
  let sport: number;

  beforeAll(async () => {
    stores = await createStores('two');
    deps = await wireUp(stores);
    storage = await startProxy(stores.environment['INLET_S3_ENDPOINT'] ?? '');
    const environment = { ...stores.environment, INLET_S3_ENDPOINT: storage.address };
    partner = await createPartner(stores.environment);
    const server = await startApi(stores.environment, 'cancel-running');
    processes = [server, await startWorker(environment, 'cancel-running')];
    api = apiClient(server.url, partner.apiKey);
    audiences = audienceClient(server.url, partner.apiKey);
    sport = await partner.createAttribute('sport');
    // Larger than the limit for batched files, so the file is streamed, which takes half a minute.
    const slow = Array.from({ length: 60_000 }, (_, n) => `${device(n)},${sport}\n`).join('');
    await partner.upload('slow.csv', slow);
    await partner.upload('both/slow.csv', slow);
    await partner.upload('both/quick.csv', `${device(70_000)},${sport}\n${device(70_001)},${sport}\n`);
    await partner.upload('quick.csv', `${device(80_000)},${sport}\n`);
    await partner.upload('members/slow.csv', rows(0, 60_000));
    await partner.upload('members/quick.csv', rows(0, 3));
  });
  afterAll(async () => {
    for (const { child } of processes) await stopProcess(child);
    await storage.close();
    await deps.close();
    await stores.drop();
  });
  beforeEach(() => storage.make({ is: 'slow', bytesPerSecond: 100_000 }));

  const inlet = (...parameters: string[]): Promise<Ran> => runOperator(stores.environment, parameters);
  const show = async (id: number) => (await deps.operations.findJob(id, 0))?.job;
  const running = (): Promise<string[]> =>
    selectOnShards(
      stores,
      "SELECT query_id FROM system.processes WHERE current_database = currentDatabase() AND startsWith(initial_query_id, 'inlet-load-')",
    );
  const waitUntilLoading = async (): Promise<void> => {
    await waitUntil('the file is being loaded', async () => (await running()).length > 0);
    storage.make({ is: 'stalled' });
  };
  /** A worker notices a cancellation once it has opened the file. */
  const waitUntilRead = async (): Promise<void> => {
    await waitUntil('the file is being read', async () =>
      withDatabase(stores, async (client) => {
        const { rowCount } = await client.query(
          'SELECT FROM job_file WHERE status = 1 AND NOT staged AND bytes_read > 0',
        );
        return rowCount !== 0;
      }),
    );
    storage.make({ is: 'stalled' });
  };
  const waitUntilStopped = async (): Promise<void> => {
    const start = performance.now();
    await waitUntil('no statement of the load runs', async () => (await running()).length === 0, 5);
    process.stdout.write(`cancel: stopped after ${((performance.now() - start) / 1000).toFixed(2)} s\n`);
  };
  const jobOfAudience = async (): Promise<number> => {
    const [job] = await deps.operations.listJobs({
      partner: partner.name,
      statuses: [0, 1, 2, 3],
      beforeId: Number.MAX_SAFE_INTEGER,
      limit: 1,
    });
    return job?.id ?? 0;
  };

  it('stops running work within seconds, ends jobs in order, and continues the lane', async () => {
    const first = await api.queue({ file_path: 'slow.csv', key_type: 0 });
    const second = await api.queue({ file_path: 'quick.csv', key_type: 0 });
    const third = await api.queue({ file_path: 'quick.csv', key_type: 0 });
    await waitUntilLoading();
    const waiting = await inlet('jobs', 'cancel', String(second), '--json');
    expect(JSON.parse(waiting.out)).toEqual({
      job_id: second,
      started: false,
      finished: false,
      jobs_ahead: 1,
    });
    expect((await inlet('jobs', 'cancel', String(second))).out).toContain('ends when it reaches the head of its lane');
    expect(await show(second)).toMatchObject({ status: 0, isCancelled: true });
    const stopped = await inlet('jobs', 'cancel', String(first), '--json');
    const answer = { job_id: first, started: true, canceled_files: 1, other_files: 0 };
    expect([stopped.code, JSON.parse(stopped.out)]).toEqual([0, answer]);
    await waitUntilStopped();
    const { errors } = await api.waitForEnd(first, 10);
    expect(errors).toMatchObject([{ code: 'job_cancelled', file: 'slow.csv', row: null, count: 1 }]);
    expect(await (await api.request(`/v1/marketplace/import/${first}/errors`)).json()).toMatchObject([
      { code: 'job_cancelled', file: 'slow.csv' },
    ]);
    expect(await api.waitForEnd(second, 10)).toMatchObject({ status: 3, errors: [{ code: 'job_cancelled' }] });
    const [one, two] = [await show(first), await show(second)];
    expect([one?.isCancelled, two?.isCancelled]).toEqual([true, true]);
    expect(Number(one?.finishedAt)).toBeLessThanOrEqual(Number(two?.finishedAt));
    storage.make({ is: 'none' });
    expect(await api.waitForEnd(third)).toMatchObject({ status: 2 });
    expect(await attributesOf(stores, partner.id)).toEqual([`${sport} ${device(80_000)}`]);
    const again = await inlet('jobs', 'cancel', String(third));
    expect([again.code, again.err]).toEqual([1, expect.stringContaining(`Job ${third} is done.`)]);
    expect(await leftovers(deps, stores)).toEqual([]);
  });

  it.each([
    ['merge', 3],
    ['replace', 1],
  ])('keeps files that were already loaded unless the import mode is replace: %s', async (mode, visible) => {
    const id = await api.queue({ file_path: 'both/', key_type: 0, compressed: false, mode });
    await waitUntil('the quick file is loaded', async () => {
      const files = await deps.importLogs.listFiles(partner.id, id, { afterId: 0, limit: 9, onlyWithErrors: false });
      return files.some(({ status }) => status === 2);
    });
    await waitUntilLoading();
    expect(await cancelJob(deps, id)).toEqual({ is: 'stopped', cancelledFiles: 1, otherFiles: 1 });
    await waitUntilStopped();
    const log = await api.waitForEnd(id, 10);
    expect(log).toMatchObject({
      status: 3,
      errors: [
        { code: 'job_cancelled', file: null },
        { code: 'job_cancelled', file: 'both/slow.csv' },
      ],
    });
    const [{ message } = { message: '' }] = log.errors ?? [];
    expect(message).toContain('1 of 2 files were not loaded.');
    expect(message.includes('Nothing was replaced.')).toBe(mode === 'replace');
    expect(await attributesOf(stores, partner.id)).toHaveLength(visible);
    expect(await leftovers(deps, stores)).toEqual([]);
    storage.make({ is: 'none' });
    const body = JSON.stringify({ key_type: 0, keys: [String(sport)] });
    await api.request('/v1/marketplace/import', { method: 'DELETE', body });
    expect(await api.waitForEnd(await api.queue({ file_path: 'quick.csv', key_type: 0 }))).toMatchObject({ status: 2 });
  });

  it('shows the canceled file in the audience and loads files that are appended later', async () => {
    const { audienceId } = await audiences.create('Slow', 'members/slow.csv');
    await waitUntilLoading();
    expect(await cancelJob(deps, await jobOfAudience())).toMatchObject({ is: 'stopped', cancelledFiles: 1 });
    await waitUntilStopped();
    const path = `${partner.prefix}members/slow.csv`;
    const failed = await audiences.settled(audienceId, 10);
    expect(failed).toMatchObject({ status: 3, unique_devices: 0, file: [{ s3_path: path, status: 3 }] });
    expect(await audiences.errors(audienceId)).toMatchObject([{ code: 'job_cancelled', file: path }]);
    storage.make({ is: 'none' });
    await audiences.append(audienceId, 'members/quick.csv');
    await waitUntil('the appended file is loaded', async () => (await audiences.get(audienceId)).unique_devices === 3);
    expect(await leftovers(deps, stores)).toEqual([]);
  });

  it('stops an append that the partner cancels, and loads its remaining files when it is retried', async () => {
    const { audienceId } = await audiences.create('Both', 'members/');
    await waitUntilRead();
    const [{ append } = { append: null }] = await audiences.history(audienceId);
    const appendId = append?.append_id ?? 0;
    expect(await audiences.cancel(audienceId, appendId)).toBe(true);
    await waitUntilStopped();
    const canceled = await audiences.settled(audienceId, 10);
    expect(canceled).toMatchObject({ status: 3 });
    const isLoaded = canceled.file.some(({ s3_path, status }) => s3_path.endsWith('quick.csv') && status === 2);
    expect(canceled.unique_devices).toBe(isLoaded ? 3 : 0);
    expect(await audiences.history(audienceId)).toMatchObject([
      { append: { status: 3, cancel_requested_by: 'partner', error: { code: 'job_cancelled' } } },
    ]);
    expect(await leftovers(deps, stores)).toEqual([]);
    storage.make({ is: 'none' });
    await audiences.retry(audienceId, appendId, 'failed');
    expect(await audiences.settled(audienceId)).toMatchObject({ status: 2, unique_devices: 60_000 });
    const [newest] = await audiences.history(audienceId);
    expect(newest?.append).toMatchObject({ retry_of: appendId, files: { failed: 0, all: isLoaded ? 1 : 2 } });
  });

  it('stops the loads of an audience that is deleted', async () => {
    const { audienceId } = await audiences.create('Doomed', 'members/slow.csv');
    await waitUntilRead();
    await audiences.remove(audienceId);
    await waitUntilStopped();
    expect(await audiences.expectProblem('GET', `/v2/firstparty/audience/${audienceId}`)).toMatchObject({
      status: 404,
    });
    expect(await leftovers(deps, stores)).toEqual([]);
    expect(
      await selectOnShards(stores, `SELECT device FROM audience_devices_local WHERE audience_id = ${audienceId}`),
    ).toEqual([]);
    storage.make({ is: 'none' });
    await api.waitForEnd(await api.queue({ file_path: 'quick.csv', key_type: 0 }));
  });
});
