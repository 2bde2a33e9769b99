import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createdSubscriptionSchema,
  subscriptionObjectListSchema,
  subscriptionSchema,
} from '../../src/adapters/http/records/subscription.ts';
import { pickPort } from '../../stack/ports.ts';
import { device } from '../support/device-id.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { operatorOutput, runOperator } from '../support/run-operator.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';
import { waitUntil } from '../support/wait-until.ts';

const path = '/v1/marketplace/subscriptions';

// Without a notification, the worker lists a prefix only once an hour, so not again during the test.
describe('notifications about new objects', () => {
  let market: Marketplace;
  let url: string;
  let bucket: string;
  let environment: Record<string, string>;

  beforeAll(async () => {
    const port = await pickPort([]);
    const settings = {
      INLET_SUBSCRIPTION_SECONDS: '3600',
      INLET_NOTIFICATIONS_PORT: String(port),
      INLET_NOTIFICATIONS_URL: `http://127.0.0.1:${port}`,
    };
    market = await startMarketplace('notifications', settings);
    await market.partner.createAttribute('sport', 'sport');
    ({ bucket } = market.partner);
    environment = { ...market.stores.environment, ...settings };
    url = (await operatorOutput(environment, ['notification-url'])).trim();
    rememberSecrets(url.slice(url.lastIndexOf('/') + 1));
  });
  afterAll(() => market.stop());

  /** Creates a subscription, and waits for its first listing. */
  async function subscribe(prefix: string): Promise<number> {
    const body = { prefix, key_type: 1, compressed: false, trigger: { quiet_seconds: 0 } };
    const created = await market.api.request(path, { method: 'POST', body: JSON.stringify(body) });
    const { subscription_id: id } = createdSubscriptionSchema.parse(await created.json());
    const shown = async () => subscriptionSchema.parse(await (await market.api.request(`${path}/${id}`)).json());
    await waitUntil('the prefix is listed', async () => (await shown()).last_listed_at !== null, 30);
    return id;
  }
  const send = async (body: unknown): Promise<number> =>
    (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).status;
  const isImported = async (id: number, name: string): Promise<boolean> => {
    const objects = await market.api.request(`${path}/${id}/objects`);
    const found = subscriptionObjectListSchema.parse(await objects.json());
    return found.some((object) => object.path === name && object.state === 'imported');
  };

  it('the URL that inlet notification-url prints accepts notifications', async () => {
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/notifications\/[\w-]{43}$/);
    expect(JSON.parse(await operatorOutput(environment, ['notification-url', '--json']))).toEqual({ url });
    const without = await runOperator(market.stores.environment, ['notification-url']);
    expect(without).toMatchObject({ code: 2, out: '' });
    expect(without.err).toContain('INLET_NOTIFICATIONS_URL');
    expect((await fetch(`${url}x`, { method: 'POST' })).status).toBe(404);
  });

  it('a notification from Ceph starts an import', async () => {
    const id = await subscribe('ceph/');
    await market.partner.upload('ceph/1.csv', `${device(1)},sport\n`);
    const object = { key: `${market.partner.prefix}ceph/1.csv` };
    expect(await send({ Records: [{ s3: { bucket: { name: bucket }, object } }] })).toBe(204);
    await waitUntil('it is imported', () => isImported(id, 'ceph/1.csv'), 30);
  });

  it('an event from Amazon EventBridge starts an import', async () => {
    const id = await subscribe('aws/a b+%/');
    await market.partner.upload('aws/a b+%/1.csv', `${device(2)},sport\n`);
    const event = (key: string): object => ({
      version: '0',
      'detail-type': 'Object Created',
      source: 'aws.s3',
      detail: { bucket: { name: bucket }, object: { key, size: 1, etag: 'x', sequencer: '617f08299329d189' } },
    });
    expect(await send(event(`${market.partner.prefix}aws/\0`))).toBe(204);
    expect(await send(event(`${market.partner.prefix}aws/a b+%/1.csv`))).toBe(204);
    await waitUntil('it is imported', () => isImported(id, 'aws/a b+%/1.csv'), 30);
  });
});
