import {
  audienceDetailsSchema,
  audienceListSchema,
  createdAudienceSchema,
} from '../../src/adapters/http/records/audience.ts';
import { loadErrorListSchema } from '../../src/adapters/http/records/load-error.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { joinAudiences, type Audiences } from '../support/start-audiences.ts';
import { audienceClient, audiencePath } from './audience-client.ts';

const oldPath = '/v1/firstparty/audience';

describe('/v1/firstparty/audience', () => {
  let market: Audiences;

  beforeAll(async () => {
    market = await joinAudiences();
    await market.partner.upload('a.csv', rows(0, 5));
    await market.partner.upload('b.csv', `${rows(5, 7)}bad,\n`);
  });
  afterAll(() => market.stop());

  /** Calls the deprecated path and expects the deprecation and sunset headers on every response. */
  const call = async (method: string, path: string, body?: object, userToken?: string): Promise<Response> => {
    const client = audienceClient(market.service.url, market.partner.apiKey, userToken);
    const answer = await client.request(path, { method, ...(body && { body: JSON.stringify(body) }) });
    const [deprecation, sunset] = [answer.headers.get('deprecation'), answer.headers.get('sunset')];
    expect(deprecation, `${method} ${path}`).toMatch(/^@\d{10}$/); // RFC 9745
    expect(new Date(sunset ?? '').toUTCString()).toBe(sunset); // RFC 8594
    const notice = Date.parse(sunset ?? '') - Number(deprecation?.slice(1)) * 1000;
    expect(notice).toBeGreaterThanOrEqual(365 * 24 * 3600 * 1000);
    return answer;
  };

  it('returns the same responses as the current path, plus deprecation and sunset headers', async () => {
    const created = await call('POST', oldPath, { name: ' Old ', file_path: 'a.csv' });
    expect(created.status).toBe(201);
    const { audience_id: id } = createdAudienceSchema.strict().parse(await created.json());
    expect(created.headers.get('location')).toBe(`${oldPath}/${id}`);
    await market.audiences.settled(id);
    const appended = await call('PATCH', `${oldPath}/${id}`, { file_path: 'b.csv' });
    expect([appended.status, await appended.text()]).toEqual([204, '']);
    const details = await market.audiences.settled(id);
    expect(details).toMatchObject({ name: 'Old', status: 3, unique_devices: 5 });

    const got = await call('GET', `${oldPath}/${id}`);
    expect(audienceDetailsSchema.strict().parse(await got.json())).toEqual(details);
    const listed = await call('GET', oldPath);
    expect(audienceListSchema.parse(await listed.json())).toEqual(await market.audiences.list());
    const errors = await call('GET', `${oldPath}/${id}/errors`);
    const lines = loadErrorListSchema.parse(await errors.json());
    expect(lines.map(({ code }) => code)).toEqual(['bad_rows', 'invalid_id']);
    expect(lines).toEqual(await market.audiences.errors(id));

    const cleared = await call('PUT', `${oldPath}/${id}`);
    expect([cleared.status, await cleared.text()]).toEqual([204, '']);
    expect(await market.audiences.get(id)).toMatchObject({ status: 2, unique_devices: 0, file: [] });
  });

  it('links to the next page under the deprecated path', async () => {
    for (const name of ['x', 'y']) await market.audiences.create(name, 'a.csv');
    const first = await call('GET', `${oldPath}?limit=1`);
    const next = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect(next.startsWith(`${oldPath}?limit=1&cursor=`)).toBe(true);
    expect(audienceListSchema.parse(await (await call('GET', next)).json()).map(({ name }) => name)).toEqual(['x']);
  });

  it('supports customers and returns the same problems as the current path', async () => {
    const { userToken } = await market.partner.createCustomer('Acme');
    expect(await (await call('GET', oldPath, undefined, userToken)).json()).toEqual([]);
    expect((await call('GET', oldPath, undefined, 'wrong')).status).toBe(401);
    for (const [method, sub, body] of [
      ['POST', '', { name: '', file_path: 5, surprise: 1 }],
      ['POST', '', { name: 'x', file_path: '../x' }],
      ['GET', '/999999', undefined],
      ['GET', '/abc', undefined],
      ['PATCH', '/999999', { file_path: 'a.csv' }],
      ['PUT', '/999999', undefined],
      ['GET', '/999999/errors', undefined],
      ['GET', '?limit=0', undefined],
    ] as const) {
      const old = problemSchema.strict().parse(await (await call(method, oldPath + sub, body)).json());
      const now = await market.audiences.expectProblem(method, audiencePath + sub, body);
      const { request_id: _old, instance, ...problem } = old;
      const { request_id: _now, instance: path, ...same } = now;
      expect(problem).toEqual(same);
      expect(instance).toBe(path.replace('/v2/', '/v1/'));
    }
  });

  it('sends deprecation headers, unlike /v2/firstparty/audience', async () => {
    const { audienceId } = await market.audiences.create('New', 'a.csv');
    for (const path of [audiencePath, `${audiencePath}/${audienceId}`, `${audiencePath}/${audienceId}/errors`]) {
      for (const method of ['GET', 'PUT', 'PATCH']) {
        const { headers } = await market.audiences.request(path, { method });
        expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([null, null]);
      }
    }
  });
});
