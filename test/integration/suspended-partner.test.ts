import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { device } from '../support/device-id.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { runOperator } from '../support/run-operator.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';

const partnersSchema = z.array(
  z.object({ name: z.string(), state: z.string(), open_jobs: z.int(), stored_rows: z.int().nullable() }),
);

describe('inlet partner suspend', () => {
  let stores: TestStores;
  let api: ServiceProcess & { readonly url: string };
  let worker: ServiceProcess;
  let partner: TestPartner;
  let other: TestPartner;
  let client: ApiClient;
  let attribute: number;

  beforeAll(async () => {
    stores = await createStores('one');
    [partner, other] = [await createPartner(stores.environment), await createPartner(stores.environment)];
    attribute = await partner.createAttribute('sport');
    api = await startApi(stores.environment, 'suspended-partner');
    client = apiClient(api.url, partner.apiKey);
    await partner.upload('a.csv', `${device(1)},${attribute}\n`);
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await stopProcess(worker.child);
    await stores.drop();
  });

  const inlet = async (...parameters: string[]): Promise<string> => {
    const { code, out, err } = await runOperator(stores.environment, parameters);
    expect(code, err).toBe(0);
    return out;
  };
  const statesOf = async () => partnersSchema.parse(JSON.parse(await inlet('partner', 'list', '--json')));

  it("rejects only this partner's keys, with a specific code", async () => {
    const waiting = await client.queue({ file_path: 'a.csv', key_type: 0 });
    expect(await inlet('partner', 'suspend', partner.name)).toBe(`partner ${partner.name} is suspended\n`);
    const answer = await client.request('/v1/marketplace/import');
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      code: 'partner_suspended',
      detail: `The operator has suspended the partner "${partner.name}".`,
    });
    expect((await apiClient(api.url, other.apiKey).request('/v1/marketplace/import')).status).toBe(200);
    expect(await statesOf()).toEqual([
      { name: partner.name, state: 'suspended', open_jobs: 1, stored_rows: null },
      { name: other.name, state: 'active', open_jobs: 0, stored_rows: null },
    ]);
    // A worker runs the lanes of other partners, while this partner's lane waits.
    worker = await startWorker(stores.environment, 'suspended-partner');
    const othersAttribute = await other.createAttribute('golf');
    await other.upload('b.csv', `${device(2)},${othersAttribute}\n`);
    const others = apiClient(api.url, other.apiKey);
    await others.waitForEnd(await others.queue({ file_path: 'b.csv', key_type: 0 }));
    expect((await statesOf())[0]).toMatchObject({ open_jobs: 1 });
    expect(await inlet('partner', 'resume', partner.name)).toBe(`partner ${partner.name} is active\n`);
    expect(await client.waitForEnd(waiting)).toMatchObject({ status: 2, total_rows: '1' });
  });

  it('lists stored rows as not measured until they have been measured', async () => {
    const rowOf = async ({ name }: TestPartner): Promise<string | undefined> =>
      (await inlet('partner', 'list')).split('\n').find((line) => line.includes(name));
    await withDatabase(stores, (database) =>
      database.query(
        `INSERT INTO partner_usage (partner_id, stored_rows, stored_bytes, storage_measured_at)
         VALUES ($1, 1234, 1, now())
         ON CONFLICT (partner_id) DO UPDATE SET stored_rows = 1234, storage_measured_at = now()`,
        [partner.id],
      ),
    );
    expect((await statesOf()).map(({ stored_rows }) => stored_rows)).toEqual([1_234, null]);
    expect(await rowOf(partner)).toContain(' 1,234 ');
    expect(await rowOf(other)).toContain(' not measured ');
  });

  it("shows a partner's state and fails for an unknown partner", async () => {
    await inlet('partner', 'suspend', partner.name);
    expect(await inlet('partner', 'show', partner.name)).toMatch(/^state +suspended$/m);
    await inlet('partner', 'resume', partner.name);
    expect(JSON.parse(await inlet('partner', 'show', partner.name, '--json'))).toMatchObject({ state: 'active' });
    const { code, err } = await runOperator(stores.environment, ['partner', 'suspend', 'nobody', '--json']);
    expect([code, JSON.parse(err)]).toEqual([
      1,
      {
        type: 'urn:inlet:error:not_found',
        title: 'Not found',
        detail: 'Partner "nobody" does not exist.',
        code: 'not_found',
        remedy: 'List what exists, for example with `inlet partner list` or `inlet jobs list`.',
        exit_code: 1,
      },
    ]);
  });
});
