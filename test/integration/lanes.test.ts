import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from '../acceptance/api-client.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';
import { startProcess, startService, stopProcess, type Service } from '../support/running-service.ts';
import { createStores, withDatabase, type TestStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { device } from '../support/device-id.ts';

// Tests the order and the takeover of jobs with real processes.

const rows = (from: number, count: number, key: number): string =>
  Array.from({ length: count }, (_, n) => `${device(from + n)},${key}\n`).join('');

describe('lanes', () => {
  let stores: TestStores;
  let service: Service;
  let partner: TestPartner;
  let sport: number;
  let storage: Proxy;

  beforeAll(async () => {
    stores = await createStores('two');
    partner = await createPartner(stores.environment);
    sport = await partner.createAttribute('sport');
    storage = await startProxy(stores.environment['INLET_S3_ENDPOINT'] ?? '');
    service = await startService({ ...stores.environment, INLET_S3_ENDPOINT: storage.address }, 'lanes');
  });

  afterAll(async () => {
    await service.stop();
    await storage.close();
    await stores.drop();
  });

  afterEach(() => storage.make({ is: 'none' }));

  it("completes a partner's jobs in submission order, including failed jobs", async () => {
    const api = apiClient(service.url, partner.apiKey);
    await partner.upload('large.csv.gz', gzipSync(rows(0, 200_000, sport)));
    await partner.upload('small.csv', rows(0, 1, sport));
    const paths = ['large.csv.gz', 'small.csv', 'missing.csv', 'small.csv', 'large.csv.gz', 'small.csv'];
    const ids: number[] = [];
    for (const file_path of paths) ids.push(await api.queue({ file_path, key_type: 0 }));
    for (const id of ids) await api.waitForEnd(id);
    const finished = await withDatabase(stores, async (client) => {
      const result = await client.query<{ id: string }>('SELECT id FROM job WHERE id = ANY($1) ORDER BY finished_at', [
        ids,
      ]);
      return result.rows.map(({ id }) => Number(id));
    });
    expect(finished).toEqual(ids);
  });

  it("does not make a partner wait for another partner's jobs", async () => {
    const other = await createPartner(stores.environment);
    const key = await other.createAttribute('news');
    await other.upload('small.csv', rows(0, 1, key));
    const large = apiClient(service.url, partner.apiKey);
    // Each job takes seconds, even on a fast machine.
    storage.make({ is: 'slow', bytesPerSecond: 50_000 });
    const backlog = [];
    for (let n = 0; n < 6; n++) backlog.push(await large.queue({ file_path: 'large.csv.gz', key_type: 0 }));
    const small = apiClient(service.url, other.apiKey);
    await small.waitForEnd(await small.queue({ file_path: 'small.csv', key_type: 0 }));
    const last = backlog.at(-1) ?? 0;
    expect((await large.get(last)).status).toBeLessThan(2);
    storage.make({ is: 'none' });
    await large.waitForEnd(last);
  });

  it('continues after the worker is killed during a load and counts nothing twice', async () => {
    const api = apiClient(service.url, partner.apiKey);
    for (let part = 0; part < 3; part++) {
      await partner.upload(`killed/${part}.gz`, gzipSync(rows(part * 150_000, 200_000, sport)));
    }
    const id = await api.queue({ file_path: 'killed/', key_type: 0, compressed: true });
    await waitUntil('a file is loading', async () =>
      withDatabase(stores, async (client) => {
        const { rowCount } = await client.query('SELECT 1 FROM job_file WHERE job_id = $1 AND status = 1', [id]);
        return rowCount !== null && rowCount > 0;
      }),
    );
    service.worker.kill('SIGKILL');
    const replacement = startProcess('worker', stores.environment, 'lanes-replacement');
    const log = await api.waitForEnd(id);
    await stopProcess(replacement.child);
    expect(log).toMatchObject({ status: 2, total_rows: '600000', unique_devices: '500000', errors: null });
  });
});
