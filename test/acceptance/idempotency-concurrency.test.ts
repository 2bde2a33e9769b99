import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partnerState } from '../support/partner-state.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { repeatableOperations, repeatableRequest } from '../support/repeatable-requests.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { apiClient } from './api-client.ts';
import { audienceClient } from './audience-client.ts';

const times = 100;

describe(`a request sent ${times} times concurrently with one Idempotency-Key to four processes`, () => {
  let stores: TestStores;
  let partner: TestPartner;
  let apis: (ServiceProcess & { readonly url: string })[];

  beforeAll(async () => {
    stores = await createStores('one');
    partner = await createPartner(stores.environment);
    apis = await Promise.all([1, 2, 3, 4].map(() => startApi(stores.environment, 'idempotency-concurrency')));
  });
  afterAll(async () => {
    await Promise.all(apis.map(({ child }) => stopProcess(child)));
    await stores.drop();
  });

  /** On a slow machine, the first request can take longer than the other requests wait. Those requests then retry. */
  async function ask(n: number, path: string, init: RequestInit): Promise<Response> {
    const api = apiClient(apis[n % apis.length]?.url ?? '', partner.apiKey);
    // Each attempt waits up to two seconds.
    for (let attempt = 0; attempt < 30; attempt++) {
      const answer = await api.request(path, init);
      if (answer.status !== 409) return answer;
      expect(await answer.json()).toMatchObject({ code: 'idempotency_key_in_use' });
    }
    throw new Error('the first request does not end');
  }

  it.each(repeatableOperations)(
    'a repeated request runs once and gets the same response every time: %s',
    async (operation) => {
      const [{ url } = { url: '' }] = apis;
      const attributeId = await partner.createAttribute(operation);
      const { audienceId } = await audienceClient(url, partner.apiKey).create('One', 'one/');
      const request = repeatableRequest(operation, { audienceId, attributeId });
      const { method, path, body } = request;
      const before = await partnerState(stores, partner.id);
      const send = async (n: number) => {
        const answer = await ask(n, path, { method, body, headers: { 'idempotency-key': operation } });
        return {
          text: `${answer.status} ${answer.headers.get('location')} ${await answer.text()}`,
          isReplayed: answer.headers.get('idempotent-replayed') === 'true',
        };
      };
      const answers = await Promise.all(Array.from({ length: times }, (_, n) => send(n)));
      expect([...new Set(answers.map(({ text }) => text))]).toHaveLength(1);
      expect(answers[0]?.text).toMatch(/^20[124] /);
      expect(answers.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
      expect(await partnerState(stores, partner.id)).toEqual({
        jobs: before.jobs + request.jobs,
        records: before.records + request.jobs,
        audiences: before.audiences + request.audiences,
        generations: before.generations + request.generations,
        tokens: 1,
        requests: before.requests + 1,
      });
    },
  );

  it('a repeated request runs once if each copy has a different body, and the other copies are rejected', async () => {
    const before = await partnerState(stores, partner.id);
    const statuses = await Promise.all(
      Array.from({ length: times }, async (_, n) => {
        const body = JSON.stringify({ file_path: `${n}.csv`, key_type: 1 });
        const headers = { 'idempotency-key': 'with-other-bodies' };
        return (await ask(n, '/v1/marketplace/import', { method: 'POST', body, headers })).status;
      }),
    );
    expect(statuses.toSorted((one, other) => one - other)).toEqual([
      202,
      ...Array.from({ length: times - 1 }, () => 422),
    ]);
    expect(await partnerState(stores, partner.id)).toMatchObject({ jobs: before.jobs + 1 });
  });
});
