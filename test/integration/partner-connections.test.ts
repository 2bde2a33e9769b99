import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

describe("an API process's connections to PostgreSQL", () => {
  let stores: TestStores;
  let busy: TestPartner;
  let other: TestPartner;
  let api: ServiceProcess & { readonly url: string };

  beforeAll(async () => {
    stores = await createPostgresStores();
    [busy, other] = [await createPartner(stores.environment), await createPartner(stores.environment)];
    api = await startApi(stores.environment, 'connections-of-partners');
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await stores.drop();
  });

  const clientOf = ({ apiKey }: TestPartner): ApiClient => apiClient(api.url, apiKey);

  const waiting = (): Promise<number> =>
    withDatabase(stores, async (client) => {
      const blocked = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return (await client.query(blocked)).rowCount ?? 0;
    });

  it("a partner whose requests wait for each other does not use up an API process's connections", async () => {
    await withDatabase(stores, async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT FROM partner WHERE name = $1 FOR NO KEY UPDATE', [busy.name]);
      const post = (n: number): Promise<number> =>
        clientOf(busy).queue({ file_path: `${n}.csv`, key_type: 1, compressed: false });
      // Requests that wait too long are rejected. How many are rejected depends on the machine.
      const queued = Promise.allSettled(Array.from({ length: 30 }, (_, n) => post(n)));
      await waitUntil("a request waits for the partner's row lock", async () => (await waiting()) > 0);
      for (let n = 0; n < 5; n++) expect(await clientOf(other).list()).toEqual([]);
      await client.query('ROLLBACK');
      await queued;
      expect(await post(31)).toBeGreaterThan(0);
    });
  });
});
