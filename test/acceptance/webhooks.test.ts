import { Webhook as StockVerifier } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventSchema } from '../../src/adapters/http/records/event.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { deliveryListSchema, webhookSchema } from '../../src/adapters/http/records/webhook.ts';
import { rows } from '../support/file-rows.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type Audiences, startAudiences } from '../support/start-audiences.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  type ReceivedEvent,
  type WebhookReceiver,
  receiverSettings,
  startReceiver,
} from '../support/webhook-receiver.ts';
import { apiClient } from './api-client.ts';
import { audienceClient } from './audience-client.ts';

const eventListSchema = z.array(eventSchema);
const createdSchema = z.strictObject({ webhook_id: z.int(), secret: z.string().startsWith('whsec_') });
const path = '/v1/webhooks';

describe('webhooks', () => {
  let market: Audiences;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    market = await startAudiences('webhooks', {
      ...receiverSettings,
      INLET_WEBHOOK_TIME_SCALE: '0.01',
      INLET_MAX_FILES_PER_PREFIX: '1',
    });
    receiver = await startReceiver();
    await market.partner.upload('one.csv', rows(0, 10));
  });
  afterAll(async () => {
    await receiver.close();
    await market.stop();
  });

  const send = async (method: string, target: string, body?: unknown): Promise<Response> =>
    market.api.request(target, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const read = async (answer: Response, status = 200): Promise<unknown> => {
    const text = await answer.text();
    expect([answer.status, text]).toEqual([status, expect.any(String)]);
    return text === '' ? null : JSON.parse(text);
  };
  const create = async (name: string, fields: object = {}): Promise<z.infer<typeof createdSchema>> => {
    const answer = await send('POST', path, { url: `${receiver.url}/${name}`, ...fields });
    const created = createdSchema.parse(await read(answer, 201));
    rememberSecrets(created.secret);
    return created;
  };
  const get = async (id: number) => webhookSchema.strict().parse(await read(await send('GET', `${path}/${id}`)));
  const deliveries = async (id: number, query = '') =>
    deliveryListSchema.parse(await read(await send('GET', `${path}/${id}/deliveries${query}`)));
  const test = async (id: number): Promise<number> =>
    z.strictObject({ sequence: z.int() }).parse(await read(await send('POST', `${path}/${id}/test`), 202)).sequence;
  const at = (name: string): ReceivedEvent[] => receiver.received.filter((one) => one.path === `/${name}`);
  const arrived = async (name: string, count: number): Promise<ReceivedEvent[]> => {
    await waitUntil(`${count} events have arrived at ${name}`, () => Promise.resolve(at(name).length >= count), 30);
    return at(name);
  };
  const remove = async (id: number): Promise<void> => void (await read(await send('DELETE', `${path}/${id}`), 204));

  it('sends the events of jobs and audiences as listed in the event log, in a form that a standard verifier accepts', async () => {
    const { webhook_id: id, secret } = await create('all');
    const log = await market.api.waitForEnd(await market.api.queue({ file_path: 'missing.csv', key_type: 1 }));
    const { audienceId, segmentId } = await market.audiences.create('Events', 'one.csv');
    const isReady = (status: number): Promise<void> =>
      waitUntil(`the audience is ready with the status ${status}`, () =>
        Promise.resolve(
          at('all').some(({ body }) => body.includes('"audience.ready"') && body.includes(`"status":${status}`)),
        ),
      );
    await isReady(2);
    await market.audiences.append(audienceId, 'missing.csv');
    await isReady(3);
    await market.audiences.clear(audienceId);
    const received = await arrived('all', 6);
    const of = { audience_id: audienceId, default_warehouse_segment_id: segmentId };
    const events = received.map(({ body }) => eventSchema.parse(JSON.parse(body)));
    const inOrder = events.toSorted((one, other) => one.sequence - other.sequence);
    expect(inOrder).toMatchObject([
      {
        type: 'import.failed',
        link: `/v1/marketplace/import/${log.import_log_id}`,
        data: { import_log_id: log.import_log_id, total_rows: 0, files: 0, failed_files: 0, code: 'no_files' },
      },
      { type: 'audience.file.finished', data: { ...of, status: 2, total_rows: 10, code: null } },
      { type: 'audience.ready', data: { ...of, status: 2 } },
      { type: 'audience.file.finished', data: { ...of, status: 3, total_rows: 0, code: 'no_files' } },
      { type: 'audience.ready', data: { ...of, status: 3 } },
      { type: 'audience.cleared', data: of },
    ]);
    const logged = eventListSchema.parse(
      await read(await send('GET', `/v1/events?after=${(inOrder[0]?.sequence ?? 1) - 1}`)),
    );
    expect(inOrder).toEqual(logged);
    const verifier = new StockVerifier(secret);
    for (const { body, headers } of received) {
      expect(() => verifier.verify(body, headers)).not.toThrow();
      expect(() => verifier.verify(`${body} `, headers)).toThrow('No matching signature');
    }
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual(events.map((event) => event.id));
    await waitUntil('nothing is pending', async () => (await get(id)).pending_events === 0);
    expect(await get(id)).toMatchObject({ status: 'enabled', failing_since: null, event_types: null });
    await remove(id);
  });

  it("reports that an audience is ready, with the audience's current status", async () => {
    await market.partner.upload('two/1.csv', rows(0, 1));
    await market.partner.upload('two/2.csv', rows(1, 1));
    const { audienceId } = await market.audiences.create('Status', 'two/');
    const [failed] = (await market.audiences.settled(audienceId)).file;
    await market.audiences.append(audienceId, 'one.csv');
    const statuses = async (): Promise<number[]> =>
      eventListSchema
        .parse(await read(await send('GET', '/v1/events?limit=1000')))
        .flatMap(({ type, data }) =>
          type === 'audience.ready' && data.audience_id === audienceId ? [data.status] : [],
        );
    await waitUntil('both loads have ended', async () => (await statuses()).length === 2);
    expect((await market.audiences.get(audienceId)).status).toBe(3);
    expect(await statuses()).toEqual([3, 3]);
    await market.audiences.dismiss(audienceId, failed?.file_id ?? '');
    expect(await statuses()).toEqual([3, 3, 2]);
    await market.audiences.dismiss(audienceId, failed?.file_id ?? '');
    await market.audiences.append(audienceId, 'one.csv');
    await waitUntil('the last load has ended', async () => (await statuses()).length === 4);
    expect((await market.audiences.get(audienceId)).status).toBe(2);
    expect(await statuses()).toEqual([3, 3, 2, 2]);
  });

  it('reports the dismissal of the last failed file, but no earlier dismissals', async () => {
    const { audienceId, segmentId } = await market.audiences.create('Dismissals', 'missing-1.csv');
    await market.audiences.append(audienceId, 'missing-2.csv');
    const { file } = await market.audiences.settled(audienceId);
    const after = eventListSchema.parse(await read(await send('GET', '/v1/events?limit=1000'))).at(-1)?.sequence ?? 0;
    for (const { file_id } of file) await market.audiences.dismiss(audienceId, file_id);
    expect(file).toHaveLength(2);
    const of = { audience_id: audienceId, default_warehouse_segment_id: segmentId };
    const logged = eventListSchema.parse(await read(await send('GET', `/v1/events?after=${after}`)));
    expect(logged.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'audience.ready', data: { ...of, status: 2 } },
    ]);
  });

  it('reports a deleted audience with one event', async () => {
    const { audienceId, segmentId } = await market.audiences.create('Deleted', 'one.csv');
    await read(await send('DELETE', `/v2/firstparty/audience/${audienceId}`), 204);
    const last = eventListSchema.parse(await read(await send('GET', '/v1/events?limit=1000'))).at(-1);
    const data = { audience_id: audienceId, default_warehouse_segment_id: segmentId };
    expect(last).toMatchObject({ type: 'audience.deleted', data });
  });

  it('sends only the selected event types, and sends a test event only to the webhook under test', async () => {
    const { webhook_id: id } = await create('some', { event_types: ['import.finished'], description: 'Some' });
    const other = await create('other');
    await market.audiences.create('Ignored', 'one.csv').then(({ audienceId }) => market.audiences.settled(audienceId));
    await test(id);
    const [only] = await arrived('some', 1);
    expect(JSON.parse(only?.body ?? '')).toMatchObject({ type: 'webhook.test', data: { webhook_id: id } });
    await waitUntil('nothing is pending', async () => (await get(other.webhook_id)).pending_events === 0);
    expect(at('other').filter(({ body }) => body.includes('webhook.test'))).toEqual([]);
    expect(at('some')).toHaveLength(1);
    await Promise.all([remove(id), remove(other.webhook_id)]);
  });

  it('retries a failed delivery with the same ID and a new signature, and lists every attempt', async () => {
    const { webhook_id: id, secret } = await create('repeated', { event_types: ['import.finished'] });
    receiver.reply = (name) => ({ status: name === '/repeated' && at('repeated').length < 2 ? 500 : 200 });
    const sequence = await test(id);
    const attempts = await arrived('repeated', 3);
    expect(new Set(attempts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const { body, headers } of attempts) new StockVerifier(secret).verify(body, headers);
    await waitUntil('it is delivered', async () => (await deliveries(id))[0]?.status === 'delivered');
    expect(await deliveries(id)).toMatchObject([
      {
        sequence,
        event_type: 'webhook.test',
        is_replay: false,
        attempts: [500, 500, 200].map((status) => ({ status })),
      },
    ]);
    expect(await get(id)).toMatchObject({ status: 'enabled', failing_since: null });
    await remove(id);
  });

  it('does not follow redirects', async () => {
    const { webhook_id: id } = await create('redirect', { event_types: ['import.finished'] });
    receiver.reply = (name) =>
      name === '/redirect' ? { status: 307, headers: { location: `${receiver.url}/elsewhere` } } : { status: 200 };
    await test(id);
    await arrived('redirect', 1);
    await waitUntil('the attempt is recorded', async () => (await deliveries(id)).length === 1);
    const [delivery] = await deliveries(id);
    expect(delivery).toMatchObject({ status: 'pending' });
    expect(delivery?.attempts.map(({ status }) => status)).toContain(307);
    const failing = await get(id);
    expect(failing.status).toBe('failing');
    expect(failing.failing_since).not.toBeNull();
    expect(at('elsewhere')).toEqual([]);
    await remove(id);
  });

  it('disables a webhook after a 410 response, keeps its events, and sends them when it is enabled', async () => {
    const { webhook_id: id } = await create('gone', { event_types: ['audience.cleared'] });
    receiver.reply = (name) => ({ status: name === '/gone' ? 410 : 200 });
    await test(id);
    await waitUntil('it is disabled', async () => (await get(id)).status === 'disabled');
    expect(await get(id)).toMatchObject({ disabled_reason: 'gone' });
    const problem = problemSchema.parse(await read(await send('POST', `${path}/${id}/test`), 422));
    expect(problem.code).toBe('webhook_disabled');
    const { audienceId } = await market.audiences.create('Gone', 'one.csv');
    await market.audiences.settled(audienceId);
    await market.audiences.clear(audienceId);
    const before = at('gone').length;
    receiver.reply = () => ({ status: 200 });
    expect(await read(await send('PATCH', `${path}/${id}`, { enabled: true }))).toMatchObject({ status: 'enabled' });
    await waitUntil('the kept event arrives', () =>
      Promise.resolve(
        at('gone')
          .slice(before)
          .some(({ body }) => body.includes('audience.cleared')),
      ),
    );
    const events = eventListSchema.parse(await read(await send('GET', '/v1/events?limit=1000')));
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'webhook.disabled', data: { webhook_id: id, reason: 'gone' } }),
    );
    await remove(id);
  });

  it('signs with the old and the new secret after a rotation', async () => {
    const { webhook_id: id, secret } = await create('rotated', { event_types: ['import.finished'] });
    const rotated = z
      .strictObject({ secret: z.string() })
      .parse(await read(await send('POST', `${path}/${id}/rotate`), 200)).secret;
    rememberSecrets(rotated);
    await test(id);
    const [event] = await arrived('rotated', 1);
    const { body = '', headers = {} } = event ?? {};
    for (const one of [secret, rotated]) new StockVerifier(one).verify(body, headers);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    expect((await get(id)).old_secrets_expire_at).not.toBeNull();
    await remove(id);
  });

  it('replays one event, or all events after a sequence number', async () => {
    const { webhook_id: id } = await create('replayed', { event_types: ['import.finished'] });
    const first = await test(id);
    await arrived('replayed', 1);
    await test(id);
    await arrived('replayed', 2);
    await read(await send('POST', `${path}/${id}/replay`, { sequence: first }), 204);
    const [one, , again] = await arrived('replayed', 3);
    expect(again?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    await read(await send('POST', `${path}/${id}/replay`, { after: first - 1 }), 204);
    const all = await arrived('replayed', 5);
    expect(new Set(all.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    await waitUntil('the replay is recorded', async () => (await deliveries(id)).every(({ is_replay }) => is_replay));
    expect((await deliveries(id, '?status=delivered&limit=1')).length).toBe(1);
    const unknown = problemSchema.parse(
      await read(await send('POST', `${path}/${id}/replay`, { sequence: 999_999 }), 422),
    );
    expect(unknown.code).toBe('event_not_replayable');
    for (const body of [{}, { sequence: 1, after: 1 }])
      await read(await send('POST', `${path}/${id}/replay`, body), 400);
    await remove(id);
  });

  it('returns the same webhook and secret for a repeated request with the same idempotency key', async () => {
    const headers = { 'idempotency-key': 'webhook-1' };
    const body = JSON.stringify({ url: `${receiver.url}/idempotent` });
    const answers = [];
    for (let n = 0; n < 2; n += 1)
      answers.push(await read(await market.api.request(path, { method: 'POST', headers, body }), 201));
    const created = createdSchema.parse(answers[0]);
    rememberSecrets(created.secret);
    expect(answers[1]).toEqual(created);
    await remove(created.webhook_id);
    expect(problemSchema.parse(await read(await send('GET', `${path}/${created.webhook_id}`), 404)).code).toBe(
      'not_found',
    );
  });

  it('rejects private addresses, unknown types, and more webhooks than the quota', async () => {
    for (const url of ['http://10.0.0.1/', 'http://169.254.169.254/', 'https://user:pw@example.com/', 'gopher://x'])
      await read(await send('POST', path, { url }), 400);
    await read(await send('POST', path, { url: `${receiver.url}/x`, event_types: ['webhook.test'] }), 400);
    const limits = z
      .object({ quotas: z.object({ webhooks: z.object({ limit: z.int(), used: z.int() }) }) })
      .parse(await read(await send('GET', '/v1/limits')));
    expect(limits.quotas.webhooks).toEqual({ limit: 10, used: 0 });
    const created = await Promise.all(Array.from({ length: 10 }, (_, n) => create(`quota-${n}`)));
    const rejected = problemSchema.parse(await read(await send('POST', path, { url: `${receiver.url}/x` }), 422));
    expect(rejected.code).toBe('quota_exceeded');
    const list = z.array(webhookSchema).parse(await read(await send('GET', path)));
    expect(list.map(({ webhook_id }) => webhook_id)).toEqual(
      created.map(({ webhook_id }) => webhook_id).toSorted((one, other) => other - one),
    );
    for (const { webhook_id } of created) await remove(webhook_id);
  });

  it('does not send events to a name that resolves to a private address', async () => {
    const { port } = new URL(receiver.url);
    const answer = await send('POST', path, { url: `http://localhost:${port}/private` });
    const { webhook_id: id } = createdSchema.parse(await read(answer, 201));
    await test(id);
    await waitUntil('the attempt is recorded', async () => (await deliveries(id)).length > 0);
    const [refused] = await deliveries(id);
    expect(refused?.attempts[0]).toMatchObject({ status: null, error: 'address_refused' });
    expect(at('private')).toEqual([]);
    await remove(id);
  });

  it('responds to a waiting request when an event is logged', async () => {
    const { webhook_id: id } = await create('waiting', { event_types: ['import.finished'] });
    const after = await test(id);
    const started = performance.now();
    const waiting = market.api.request(`/v1/events?after=${after}`, { headers: { prefer: 'wait=20' } });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const next = await test(id);
    const answer = await waiting;
    expect(answer.headers.get('preference-applied')).toBe('wait=20');
    expect(eventListSchema.parse(await answer.json()).map(({ sequence }) => sequence)).toEqual([next]);
    expect(performance.now() - started).toBeLessThan(5_000);
    const empty = await market.api.request(`/v1/events?after=${next}`, { headers: { prefer: 'wait=1' } });
    expect(await empty.json()).toEqual([]);
    await remove(id);
  });

  it.each(['', ' ', '-1', '1e3', '0x10', '1&after=2'])(
    'rejects a request for events after the invalid sequence number "%s"',
    async (after) => {
      const answer = await market.api.request(`/v1/events?after=${after}`);
      const detail = 'after must be a whole number from 0 to 999,999,999,999,999.';
      expect(await read(answer, 400)).toMatchObject({
        code: 'invalid_request',
        errors: [{ parameter: 'after', detail }],
      });
    },
  );

  it('lists the newest events first, in pages that continue with older ones', async () => {
    const { webhook_id: id } = await create('newest');
    const tests = [await test(id), await test(id), await test(id)];
    const newest = await send('GET', '/v1/events?order=desc&limit=2');
    const next = /<(.*)>; rel="next"/.exec(newest.headers.get('link') ?? '')?.[1] ?? '';
    const sequences = async (answer: Response): Promise<number[]> =>
      eventListSchema.parse(await read(answer)).map(({ sequence }) => sequence);
    expect(await sequences(newest)).toEqual([tests[2], tests[1]]);
    expect((await sequences(await send('GET', next)))[0]).toBe(tests[0]);
    const last = await send('GET', `/v1/events?order=desc&after=${tests[1]}`);
    expect(last.headers.get('link')).toBe(null);
    expect(await sequences(last)).toEqual([tests[2]]);
    const forward = await send('GET', next.replace('order=desc', 'order=asc'));
    expect(problemSchema.parse(await read(forward, 400))).toMatchObject({ code: 'invalid_request' });
    await remove(id);
  });

  it("shows events only to keys with the scope for the events' subject, and shows customers only their own events", async () => {
    const customer = await market.partner.createCustomer('Retail Co');
    rememberSecrets(customer.userToken);
    const own = audienceClient(market.service.url, market.partner.apiKey, customer.userToken);
    await market.partner.upload(`Retail Co/one.csv`, rows(0, 5));
    const { audienceId } = await own.create('Own', 'one.csv');
    await own.settled(audienceId);
    await own.clear(audienceId);
    const typesOf = async (request: (path: string) => Promise<Response>): Promise<Set<string>> => {
      const events = eventListSchema.parse(await read(await request('/v1/events?limit=1000')));
      return new Set(events.map(({ type }) => type.split('.')[0] ?? ''));
    };
    expect(await typesOf((target) => own.request(target))).toEqual(new Set(['audience']));
    const narrow = async (scope: string) => {
      const issued = z
        .object({ api_key: z.string() })
        .parse(
          JSON.parse(
            await market.partner.operate('key', 'create', '--json', '--partner', market.partner.name, '--scope', scope),
          ),
        );
      rememberSecrets(issued.api_key);
      return apiClient(market.service.url, issued.api_key);
    };
    expect(await typesOf((await narrow('marketplace:read')).request)).toEqual(new Set(['import']));
    expect(await typesOf((await narrow('audience:read')).request)).toEqual(new Set(['audience']));
    expect((await (await narrow('audience:read')).request(path)).status).toBe(403);
  });
});
