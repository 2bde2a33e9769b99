import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partnerState } from '../support/partner-state.ts';
import { createPartner } from '../support/partners.ts';
import { repeatableOperations, repeatableRequest } from '../support/repeatable-requests.ts';
import { joinAudiences, type Audiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { apiClient, readProblem, type ApiClient } from './api-client.ts';
import { audiencePath } from './audience-client.ts';

const imports = '/v1/marketplace/import';

describe('Idempotency-Key', () => {
  let market: Audiences;
  let attributeId: number;
  let audienceId: number;
  let keys = 0;

  beforeAll(async () => {
    market = await joinAudiences();
    attributeId = await market.partner.createAttribute('sport', 'sport');
    ({ audienceId } = await market.audiences.create('One', 'nothing/'));
  });
  afterAll(() => market.stop());

  const newKey = (): string => `key-${++keys}`;
  type Sent = {
    readonly method: string;
    readonly path: string;
    readonly body?: string | undefined;
    readonly userToken?: string;
  };
  const send = ({ method, path, body, userToken }: Sent, key: string | null, api: ApiClient = market.api) =>
    api.request(path, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: {
        ...(key === null ? {} : { 'idempotency-key': key }),
        ...(userToken === undefined ? {} : { 'x-user-token': userToken }),
      },
    });
  const state = () => partnerState(market.stores, market.partner.id);
  const whole = async (answer: Response): Promise<string> =>
    `${answer.status} ${answer.headers.get('content-type')} ${answer.headers.get('location')} ${await answer.text()}`;
  const isReplay = (answer: Response): boolean => answer.headers.get('idempotent-replayed') === 'true';
  const problem = async (answer: Response) => problemSchema.strict().parse(await readProblem(answer));
  const anImport = (file_path: string, more: object = {}): Sent => {
    return { method: 'POST', path: imports, body: JSON.stringify({ file_path, key_type: 1, ...more }) };
  };

  it.each(repeatableOperations)(
    'a request with an idempotency key runs once and gets the same response every time: %s',
    async (operation) => {
      const request = repeatableRequest(operation, { audienceId, attributeId });
      const key = newKey();
      const before = await state();
      const first = await send(request, key);
      expect([first.ok, isReplay(first)]).toEqual([true, false]);
      const answer = await whole(first);
      for (let time = 0; time < 3; time++) {
        const again = await send(request, key);
        expect(isReplay(again)).toBe(true);
        expect(await whole(again)).toBe(answer);
      }
      expect(await state()).toMatchObject({
        jobs: before.jobs + request.jobs,
        audiences: before.audiences + request.audiences,
        generations: before.generations + request.generations,
        requests: before.requests + 1,
      });
    },
  );

  it('a request with an idempotency key is replayed even after its job ends and its audience is cleared', async () => {
    const imported = anImport('nothing.csv');
    const made = { method: 'POST', path: audiencePath, body: JSON.stringify({ name: 'Later', file_path: 'nothing/' }) };
    const [importKey, madeKey] = [newKey(), newKey()];
    const answers = [await whole(await send(imported, importKey)), await whole(await send(made, madeKey))];
    const [log] = await market.api.list();
    await market.api.waitForEnd(log?.import_log_id ?? 0);
    const [audience] = await market.audiences.list();
    await market.audiences.clear(audience?.audience_id ?? 0);
    expect([await whole(await send(imported, importKey)), await whole(await send(made, madeKey))]).toEqual(answers);
  });

  it('a request with an idempotency key gets the same response after its foreign key was removed', async () => {
    const deleted = await market.partner.createAttribute('tennis', 'tennis');
    const request: Sent = { method: 'DELETE', path: imports, body: '{"key_type":1,"keys":["tennis"]}' };
    const key = newKey();
    const answer = await whole(await send(request, key));
    await withDatabase(market.stores, (client) =>
      client.query('DELETE FROM attribute_foreign_key WHERE attribute_id = $1', [deleted]),
    );
    const again = await send(request, key);
    expect([isReplay(again), await whole(again)]).toEqual([true, answer]);
    expect(await problem(await send(request, newKey()))).toMatchObject({ status: 422, code: 'unknown_keys' });
  });

  it('a repeated request without a key or with a different key is a new request', async () => {
    const before = await state();
    const answers = [];
    for (const key of [null, null, newKey(), newKey()]) answers.push(await send(anImport('nothing.csv'), key));
    expect(answers.map(isReplay)).toEqual([false, false, false, false]);
    expect(new Set(await Promise.all(answers.map(whole))).size).toBe(4);
    expect((await state()).jobs).toBe(before.jobs + 4);
  });

  it('a repeated request is recognized in any field order and with explicit defaults', async () => {
    const key = newKey();
    const answer = await whole(await send(anImport('same.csv'), key));
    for (const body of [
      '{"key_type":1,"file_path":"same.csv"}',
      ' { "file_path" : "same.csv", "mode": "merge", "path_type": 0, "key_type": 1 }',
    ]) {
      const again = await send({ method: 'POST', path: imports, body }, key);
      expect(isReplay(again)).toBe(true);
      expect(await whole(again)).toBe(answer);
    }
    const clear = newKey();
    for (const [n, body] of [undefined, '', '{}', 'null'].entries()) {
      const again = await send({ method: 'PUT', path: `${audiencePath}/${audienceId}`, body }, clear);
      expect([again.status, isReplay(again)]).toEqual([204, n > 0]);
    }
  });

  it('a request is rejected without effect if its key was used for another body, operation, path, or customer', async () => {
    const { audienceId: another } = await market.audiences.create('Another', 'nothing/');
    const customer = await market.partner.createCustomer('customer');
    const { method, path, body } = repeatableRequest('createAudience', { audienceId, attributeId });
    const made: Sent = { method, path, body };
    const cleared: Sent = { method: 'PUT', path: `${audiencePath}/${audienceId}` };
    const pairs: [Sent, Sent][] = [
      [anImport('a.csv'), anImport('b.csv')],
      [anImport('a.csv'), anImport('a.csv', { mode: 'replace' })],
      [anImport('a.csv'), repeatableRequest('deleteAttributeData', { audienceId, attributeId })],
      [anImport('a.csv'), made],
      [made, { ...made, path: made.path.replace('/v2/', '/v1/') }],
      [made, { ...made, userToken: customer.userToken }],
      [{ ...made, userToken: customer.userToken }, made],
      [cleared, { ...cleared, path: `${audiencePath}/${another}` }],
      [cleared, { ...cleared, method: 'PATCH', body: '{"file_path":"a"}' }],
    ];
    for (const [first, other] of pairs) {
      const key = newKey();
      expect((await send(first, key)).ok).toBe(true);
      const before = await state();
      expect(await problem(await send(other, key))).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
      const { jobs, audiences, generations, requests } = await state();
      expect({ jobs, audiences, generations, requests }).toMatchObject({
        jobs: before.jobs,
        audiences: before.audiences,
        generations: before.generations,
        requests: before.requests,
      });
      expect(isReplay(await send(first, key))).toBe(true);
    }
  });

  it('a rejected request can be fixed and sent again with the same idempotency key', async () => {
    const missing = { method: 'PATCH', path: `${audiencePath}/999999`, body: '{"file_path":"a"}' };
    const keysOf = (key: string): Sent => {
      return { method: 'DELETE', path: imports, body: JSON.stringify({ key_type: 1, keys: [key] }) };
    };
    const pairs: [number, Sent, Sent][] = [
      [400, anImport('../a.csv'), anImport('a.csv')],
      [400, { method: 'POST', path: imports, body: '{' }, anImport('a.csv')],
      [404, missing, { ...missing, path: `${audiencePath}/${audienceId}` }],
      [422, keysOf('unknown'), keysOf('sport')],
    ];
    for (const [status, invalid, fixed] of pairs) {
      const key = newKey();
      const before = await state();
      expect((await send(invalid, key)).status).toBe(status);
      expect((await state()).requests).toBe(before.requests);
      const answer = await send(fixed, key);
      expect([answer.ok, isReplay(answer)]).toEqual([true, false]);
    }
    const stranger = await createPartner(market.stores.environment);
    const unauthenticated = apiClient(market.service.url, `${stranger.apiKey}x`);
    const key = newKey();
    expect((await send(anImport('a.csv'), key, unauthenticated)).status).toBe(401);
    expect(isReplay(await send(anImport('a.csv'), key))).toBe(false);
  });

  it.each([
    ['empty', ''],
    ['of 256 characters', 'x'.repeat(256)],
    ['with a space', 'a b'],
    ['with non-ASCII letters', 'schlüssel'],
    ['sent twice', 'one, two'],
  ])('a request with an idempotency key is rejected if the key is %s', async (_what, key) => {
    const before = await state();
    const answer = await problem(await send(anImport('a.csv'), key));
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(answer.errors?.map(({ pointer }) => pointer)).toEqual(['/Idempotency-Key']);
    expect((await state()).jobs).toBe(before.jobs);
  });

  it.each(['x', 'x'.repeat(255), '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', '0'])(
    'a request with an idempotency key is accepted with the key %s',
    async (key) => {
      const first = await whole(await send(anImport('odd.csv'), key));
      const again = await send(anImport('odd.csv'), key);
      expect([isReplay(again), await whole(again)]).toEqual([true, first]);
    },
  );

  it("a request with an idempotency key is independent of another partner's request with the same key", async () => {
    const stranger = await createPartner(market.stores.environment);
    const api = apiClient(market.service.url, stranger.apiKey);
    const key = newKey();
    const mine = await whole(await send(anImport('a.csv'), key));
    const theirs = await send(anImport('b.csv'), key, api);
    expect([theirs.status, isReplay(theirs)]).toEqual([202, false]);
    expect(await whole(theirs)).not.toBe(mine);
    expect(await whole(await send(anImport('a.csv'), key))).toBe(mine);
    expect(await api.list()).toHaveLength(1);
  });

  it('a request with the same idempotency key is a new request after 24 hours but not a minute earlier', async () => {
    const key = newKey();
    const age = (interval: string): Promise<unknown> =>
      withDatabase(market.stores, (client) =>
        client.query(
          `UPDATE accepted_request SET accepted_at = now() - $1::interval WHERE key_hash = sha256($2::bytea)`,
          [interval, Buffer.from(key)],
        ),
      );
    const first = await whole(await send(anImport('old.csv'), key));
    await age('23 hours 59 minutes');
    expect(await whole(await send(anImport('old.csv'), key))).toBe(first);
    await age('24 hours 1 second');
    const later = await send(anImport('other.csv'), key);
    expect([later.status, isReplay(later)]).toEqual([202, false]);
    const answer = await whole(later);
    expect(answer).not.toBe(first);
    const again = await send(anImport('other.csv'), key);
    expect([isReplay(again), await whole(again)]).toEqual([true, answer]);
    expect((await send(anImport('old.csv'), key)).status).toBe(422);
  });

  it('the stores contain neither the idempotency key nor storage credentials, and changed credentials are detected', async () => {
    const key = 'a-key-that-must-not-be-found';
    const secret = 'a/secret/that/must/not/be/found';
    const withSecret = (secretAccessKey: string): Sent =>
      anImport('s3://acme-exports/a.csv', {
        path_type: 1,
        credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey, region: 'eu-central-1' },
      });
    expect((await send(withSecret(secret), key)).status).toBe(202);
    expect(isReplay(await send(withSecret(secret), key))).toBe(true);
    expect((await send(withSecret(`${secret}!`), key)).status).toBe(422);
    const kept = await withDatabase(market.stores, async (client) => {
      const { rows } = await client.query<{ text: string }>(
        `SELECT accepted_request::text || encode(fingerprint, 'escape') || encode(key_hash, 'escape') AS text
         FROM accepted_request`,
      );
      return rows.map(({ text }) => text).join('\n');
    });
    expect(kept).not.toBe('');
    for (const hidden of [key, secret, 'AKIAIOSFODNN7EXAMPLE']) {
      expect(kept).not.toContain(hidden);
      expect(kept).not.toContain(Buffer.from(hidden).toString('hex'));
    }
  });

  it('a request with an idempotency key is never replayed if it only reads', async () => {
    const read: Sent = { method: 'GET', path: `${imports}?limit=1` };
    const first = await send(read, 'a b c');
    await send(anImport('a.csv'), null);
    const second = await send(read, 'a b c');
    expect([first.status, second.status, isReplay(second)]).toEqual([200, 200, false]);
    expect(await second.text()).not.toBe(await first.text());
  });
});
