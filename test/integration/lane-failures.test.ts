import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { operatorLaneSchema } from '../../src/adapters/http/records/operator.ts';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { device } from '../support/device-id.ts';
import { operatorHeaders } from '../support/operator-session.ts';
import { type OwnBucket, createOwnBucket } from '../support/own-bucket.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { operatorOutput } from '../support/run-operator.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { commandOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

type Lane = z.infer<typeof operatorLaneSchema>;

/** Nothing listens on this port. */
const refused = 'http://127.0.0.1:9';

describe('the failure shown for a lane', () => {
  let stores: TestStores;
  let api: ServiceProcess & { readonly url: string };
  let session: { readonly cookie: string };
  let partner: TestPartner;
  let client: ApiClient;
  let own: OwnBucket;
  let worker: ServiceProcess | null = null;

  beforeAll(async () => {
    stores = await createStores('one');
    [api, session, partner, own] = await Promise.all([
      startApi(stores.environment, 'lane-failures'),
      operatorHeaders(stores),
      createPartner(stores.environment),
      createOwnBucket(),
    ]);
    client = apiClient(api.url, partner.apiKey);
    await partner.createAttribute('sport', 'sport');
    await partner.upload('a.csv', `${device(1)},sport\n`);
    await own.upload('a.csv', `${device(1)},sport\n`);
  });
  afterAll(async () => {
    if (worker) await stopProcess(worker.child);
    await stopProcess(api.child);
    await stores.drop();
  });

  const work = async (settings: Readonly<Record<string, string>> = {}): Promise<void> => {
    if (worker) await stopProcess(worker.child);
    worker = await startWorker({ ...stores.environment, ...settings }, 'lane-failures');
  };
  const findLane = async (): Promise<Lane | null> => {
    const response = await fetch(`${api.url}/v1/operator/lanes`, { headers: session });
    return z.array(operatorLaneSchema).parse(await response.json())[0] ?? null;
  };
  const waitForFailure = async (expected: Lane['last_failure']): Promise<void> => {
    let lane: Lane | null = null;
    await waitUntil('the lane waits for a retry', async () => {
      lane = await findLane();
      return lane?.state === 'waiting_to_retry';
    });
    expect(lane).toMatchObject({
      partner: partner.name,
      last_failure: expected,
      next_attempt_at: expect.any(String) as unknown,
    });
  };

  it("names the partner's own bucket while its endpoint refuses connections", async () => {
    await work({ INLET_PARTNER_S3_ENDPOINT: refused });
    const id = await client.queue({
      file_path: `s3://${own.bucket}/a.csv`,
      path_type: 1,
      key_type: 1,
      credentials: own.credentials,
    });
    const failure = { code: 'unavailable', dependency: 'partner_storage' } as const;
    await waitForFailure(failure);
    expect(JSON.parse(await operatorOutput(stores.environment, ['lanes', '--json']))).toMatchObject([
      { partner: partner.name, last_failure: failure },
    ]);
    expect(await operatorOutput(stores.environment, ['lanes'])).toContain('unavailable (partner_storage)');
    // The token contains nothing else. In particular, it contains no part of the error, which names the bucket.
    const payloads = await withDatabase(stores, async (database) =>
      (await database.query<{ data: object }>(`SELECT data FROM pgboss.job WHERE name = 'lane'`)).rows.map(
        ({ data }) => data,
      ),
    );
    expect(payloads).toEqual([{ partnerId: partner.id, failure, waits: expect.any(Number) as unknown }]);
    await work();
    expect(await client.waitForEnd(id)).toMatchObject({ status: 2 });
    expect(await findLane()).toBeNull();
  });

  it('names ClickHouse while a worker cannot reach it', async () => {
    const unreachable = Object.assign(new URL(stores.environment['INLET_CLICKHOUSE_URLS'] ?? ''), { port: '9' });
    await work({ INLET_CLICKHOUSE_URLS: unreachable.href });
    const id = await client.queue({ file_path: 'a.csv', key_type: 1 });
    await waitForFailure({ code: 'unavailable', dependency: 'clickhouse' });
    await work();
    expect(await client.waitForEnd(id)).toMatchObject({ status: 2 });
  });

  it('is an internal error if loading a file fails in a way that counts as an attempt', async () => {
    await work();
    await commandOnShards(stores, 'DETACH TABLE judged_lines');
    const id = await client.queue({ file_path: 'a.csv', key_type: 1 });
    await waitForFailure({ code: 'internal', dependency: 'clickhouse' });
    await commandOnShards(stores, 'ATTACH TABLE judged_lines');
    expect(await client.waitForEnd(id)).toMatchObject({ status: 2 });
    expect(await findLane()).toBeNull();
  });
});
