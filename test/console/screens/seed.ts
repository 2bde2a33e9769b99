import { PutObjectCommand } from '@aws-sdk/client-s3';
import { createHash, randomBytes } from 'node:crypto';
import { connectS3 } from '../../../src/adapters/s3/connect.ts';
import { createAttribute, provisionPartner } from '../../../src/usecases/admin/manage-partners.ts';
import { z } from 'zod';
import { type ApiClient, apiClient } from '../../acceptance/api-client.ts';
import { audienceClient } from '../../acceptance/audience-client.ts';
import { device } from '../../support/device-id.ts';
import { configFor } from '../../support/environment.ts';
import { rows } from '../../support/file-rows.ts';
import { rememberSecrets } from '../../support/known-secrets.ts';
import { asOperator } from '../../support/operator.ts';
import { type TestStores, withDatabase } from '../../support/stores.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { Seeded } from './screens.ts';

// The data that the screens show. It is loaded by the service, like the data of a real partner.

export type SeededPartner = {
  readonly name: string;
  readonly apiKey: string;
  readonly api: ApiClient;
  readonly upload: (path: string, body: string) => Promise<void>;
};

/**
 * The number of known devices with each attribute, out of 20,000, and how many times more common the attribute is in
 * the audience. The audience has the first 9,000 of these devices and 2,000 unknown ones.
 */
const attributes = [
  { name: 'Travel', devices: 4_000, index: 1.7 },
  { name: 'Sports', devices: 7_000, index: 1.4 },
  { name: 'Cooking', devices: 9_500, index: 1.1 },
  { name: 'Music', devices: 12_000, index: 1 },
  { name: 'Gaming', devices: 8_000, index: 0.6 },
  { name: 'News', devices: 13_000, index: 0.9 },
  { name: 'Parents', devices: 5_000, index: 0.8 },
  { name: 'Sailing', devices: 30, index: 1 },
] as const;
const matchedDevices = 9_000;
const knownDevices = 20_000;

/** The receiver of webhooks responds to this path with 500. */
export const failingPath = 'staging/inlet';

export async function createNamedPartner(stores: TestStores, url: string, name: string): Promise<SeededPartner> {
  const { environment } = stores;
  const config = configFor(environment);
  const { apiKey, partner, storage } = await asOperator(environment, async (operator) => {
    const provisioned = await provisionPartner(operator, name);
    for (const attribute of attributes) {
      const wish = { name: attribute.name, foreignKeys: [attribute.name.toLowerCase()] };
      await createAttribute(operator, name, wish);
    }
    return provisioned;
  });
  const s3 = connectS3({
    endpoint: config.INLET_S3_ENDPOINT ?? null,
    region: config.INLET_S3_REGION,
    accessKeyId: storage.accessKeyId,
    secretAccessKey: storage.secretAccessKey,
  });
  return {
    name,
    apiKey: apiKey.reveal(),
    api: apiClient(url, apiKey.reveal()),
    upload: async (path, body) => {
      await s3.send(new PutObjectCommand({ Bucket: config.INLET_S3_BUCKET, Key: partner.prefix + path, Body: body }));
    },
  };
}

/**
 * Creates customers and keys, a finished import, two failed imports, and two audiences with reports, one of which has a
 * failed file.
 */
export async function loadData(
  { api, apiKey, upload }: SeededPartner,
  url: string,
): Promise<Omit<Seeded, 'customerSegmentId' | 'failedJobId' | 'webhookId' | 'subscriptionId'>> {
  const matchedShare = matchedDevices / knownDevices;
  const keysOf = (n: number): string =>
    attributes
      .filter(({ devices, index }) => {
        const factor = n < matchedDevices ? index : (1 - index * matchedShare) / (1 - matchedShare);
        return (n * 7) % knownDevices < devices * factor;
      })
      .map(({ name }) => name.toLowerCase())
      .join('|');
  const row = (n: number): string =>
    `${device(n)},${n % 2 === 0 ? 1 : 3},${n % 4 === 0 ? 'DE' : 'FR'},0,${keysOf(n)}\n`;
  const half = knownDevices / 2;
  const lines = Array.from({ length: knownDevices }, (_, n) => row(n));
  await upload('daily/2026-11-17/1.csv', lines.slice(0, half).join(''));
  await upload('daily/2026-11-17/2.csv', lines.slice(half).join(''));
  const bad = `not-an-id,sports\n${device(1)},golf\n,\n00000000-0000-0000-0000-000000000000,music\n`;
  await upload('daily/2026-11-18/1.csv', rows(0, 900, 'sports') + bad.repeat(12));
  await upload('daily/2026-11-18/2.csv', 'a file of another kind\n');
  const unknown = rows(1_000_000, 1_002_000, 'view');
  await upload('audiences/summer/1.csv', rows(0, 5_000, 'buy') + rows(5_000, matchedDevices, 'view') + unknown);
  await upload('audiences/summer/2.csv', rows(0, 200, 'view') + 'not-an-id,view\n'.repeat(8));
  await upload('audiences/returning.csv', rows(4_000, 12_000, 'buy'));
  await api.waitForEnd(await api.queue({ file_path: 'daily/2026-11-17/', key_type: 1, compressed: false }));
  const importLogId = await api.queue({ file_path: 'daily/2026-11-18/', key_type: 1, compressed: false });
  await api.waitForEnd(importLogId);
  await api.waitForEnd(await api.queue({ file_path: 'daily/missing/', key_type: 1, compressed: false }));
  await createAccess(api);
  const audiences = audienceClient(url, apiKey);
  const created = await audiences.create('Summer buyers', 'audiences/summer/');
  await audiences.settled(created.audienceId);
  const returning = await audiences.create('Returning customers', 'audiences/returning.csv');
  await audiences.settled(returning.audienceId);
  return { importLogId, otherAudienceId: returning.audienceId, ...created };
}

/**
 * Creates a webhook that works, one whose receiver fails, and a disabled one. They get the events that are logged
 * afterwards.
 */
export async function createWebhooks({ api }: SeededPartner, receiverUrl: string): Promise<Pick<Seeded, 'webhookId'>> {
  const send = async (method: string, path: string, body: object): Promise<unknown> => {
    const answer = await api.request(`/v1/webhooks${path}`, { method, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: HTTP ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const create = async (path: string, description: string, event_types: readonly string[] | null): Promise<number> => {
    const created = await send('POST', '', { url: `${receiverUrl}/${path}`, description, event_types });
    return z.object({ webhook_id: z.int() }).parse(created).webhook_id;
  };
  await create('hooks/inlet', 'Production', null);
  const webhookId = await create(failingPath, 'Staging', ['import.finished', 'import.failed', 'audience.ready']);
  await send('PATCH', `/${await create('old', 'Before the move', null)}`, { enabled: false });
  return { webhookId };
}

/** Creates a subscription that has imported files, one that waits for a marker, and a paused one. */
export async function createSubscriptions({ api, upload }: SeededPartner): Promise<Pick<Seeded, 'subscriptionId'>> {
  const path = '/v1/marketplace/subscriptions';
  const send = async (method: string, target: string, body: object): Promise<unknown> => {
    const answer = await api.request(target, { method, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${target}: HTTP ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const create = async (prefix: string, trigger: object): Promise<number> => {
    const body = { prefix, trigger, key_type: 1, compressed: false };
    return z.object({ subscription_id: z.int() }).parse(await send('POST', path, body)).subscription_id;
  };
  const subscriptionId = await create('crm/', { quiet_seconds: 0 });
  await create('weekly/', { marker: '_SUCCESS' });
  await send('PATCH', `${path}/${await create('partners/', { daily_at: '02:30' })}`, { paused: true });
  await upload('crm/2026-11-18.csv', rows(0, 900, 'sports'));
  await upload('crm/2026-11-19.csv', 'a file of another kind\n');
  await upload('weekly/part-1.csv', rows(0, 500, 'travel'));
  await upload('weekly/part-2.csv', rows(500, 900, 'travel'));
  await waitUntil('the files under crm/ are loaded, and those under weekly/ wait', async () => {
    const answer = await api.request(`${path}/${subscriptionId}/objects`);
    const states = z.array(z.object({ state: z.string() })).parse(await answer.json());
    const listed = z
      .array(z.object({ waits_for: z.string().nullable() }))
      .parse(await (await api.request(path)).json());
    const ended = states.filter(({ state }) => state === 'imported' || state === 'failed');
    return ended.length === 2 && listed.some(({ waits_for }) => waits_for === 'marker');
  });
  return { subscriptionId };
}

/** Creates a customer's audiences, with reports. */
export async function loadCustomer(
  { api, apiKey }: SeededPartner,
  url: string,
): Promise<Pick<Seeded, 'customerSegmentId'> & { readonly userToken: string }> {
  const post = async (path: string, body: object): Promise<unknown> => {
    const answer = await api.request(path, { method: 'POST', body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(`${path}: HTTP ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const { customer_id: id } = z
    .object({ customer_id: z.int() })
    .parse(await post('/v1/customers', { name: 'Alpine Gear' }));
  const { user_token: userToken } = z
    .object({ user_token: z.string() })
    .parse(await post(`/v1/customers/${id}/tokens`, {}));
  rememberSecrets(userToken);
  const audiences = audienceClient(url, apiKey, userToken);
  const report = await audiences.create('Winter buyers', 'audiences/summer/1.csv');
  await audiences.settled(report.audienceId);
  await audiences.settled((await audiences.create('Newsletter', 'audiences/returning.csv')).audienceId);
  return { customerSegmentId: report.segmentId, userToken };
}

export async function createLink({ api }: SeededPartner, segmentId: number, userToken: string): Promise<string> {
  const path = `/v2/firstparty/segments/${segmentId}/console-links`;
  const answer = await api.request(path, { method: 'POST', headers: { 'x-user-token': userToken } });
  if (answer.status !== 201) throw new Error(`${path}: HTTP ${answer.status} ${await answer.text()}`);
  return z.object({ url: z.string() }).parse(await answer.json()).url;
}

/** Creates customers, and a key for a program with the scopes that it needs. */
async function createAccess({ request }: ApiClient): Promise<void> {
  const send = async (path: string, body: object): Promise<void> => {
    const answer = await request(path, { method: 'POST', body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(`${path}: HTTP ${answer.status} ${await answer.text()}`);
  };
  for (const name of ['Fashion Retail', 'Northern Airways']) await send('/v1/customers', { name });
  const scopes = ['marketplace:read', 'marketplace:write'];
  await send('/v1/keys', { name: 'Nightly imports', scopes, expires_in_days: 90 });
}

/** Opens the session of an operator and returns its cookie. Users would sign in at an OpenID Connect provider. */
export async function operatorCookie(stores: TestStores): Promise<{ readonly name: string; readonly value: string }> {
  const token = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(token).digest();
  await withDatabase(stores, (client) =>
    client.query(
      "SELECT open_console_session($1, 'operator', 'dana', 'Dana Fox', NULL, NULL, NULL, NULL, NULL, 3600, 3600, 10)",
      [hash],
    ),
  );
  return { name: 'inlet_session', value: token };
}
