import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { joinAudiences, type Audiences } from '../support/start-audiences.ts';
import { readProblem } from './api-client.ts';
import { audienceClient, audiencePath, type AudienceClient } from './audience-client.ts';

// A partner with two customers and another partner with one customer try to access each other's audiences.

describe('audiences of customers', () => {
  let market: Audiences;
  let stranger: TestPartner;
  let tokens: { acme: string; globex: string; strangers: string; revoked: string };
  /** Each caller and the audience that it created. */
  const callers = new Map<string, { client: AudienceClient; audienceId: number }>();

  const clientWith = (userToken?: string): AudienceClient =>
    audienceClient(market.service.url, market.partner.apiKey, userToken);

  beforeAll(async () => {
    market = await joinAudiences();
    stranger = await createPartner(market.stores.environment);
    const [acme, globex, revoked, strangers] = await Promise.all([
      market.partner.createCustomer('Acme'),
      market.partner.createCustomer('Globex'),
      market.partner.createCustomer('Gone'),
      stranger.createCustomer('Acme'),
    ]);
    await market.partner.operate('user-token', 'revoke', '--partner', market.partner.name, String(revoked.tokenId));
    tokens = {
      acme: acme.userToken,
      globex: globex.userToken,
      revoked: revoked.userToken,
      strangers: strangers.userToken,
    };
    for (const partner of [market.partner, stranger]) {
      await partner.upload('a.csv', rows(0, 5));
      await partner.upload('b.csv', rows(5, 7));
    }
    const clients: [string, AudienceClient][] = [
      ['partner', clientWith()],
      ['acme', clientWith(tokens.acme)],
      ['globex', clientWith(tokens.globex)],
      ['stranger', audienceClient(market.service.url, stranger.apiKey)],
      ["stranger's customer", audienceClient(market.service.url, stranger.apiKey, tokens.strangers)],
    ];
    for (const [name, client] of clients) {
      callers.set(name, { client, audienceId: (await client.create(name, 'a.csv')).audienceId });
    }
    for (const { client, audienceId } of callers.values()) await client.settled(audienceId);
  });
  afterAll(() => market.stop());

  it("a customer's audience is visible only to that customer, not to a partner that sends no user token", async () => {
    for (const [name, { client, audienceId }] of callers) {
      expect((await client.list()).map((audience) => [audience.audience_id, audience.name])).toEqual([
        [audienceId, name],
      ]);
      expect(await client.get(audienceId)).toMatchObject({ name, status: 2, unique_devices: 5 });
    }
  });

  /** Every operation on one audience, with the method, the path after the ID, and the body. */
  const operations: readonly (readonly [string, string, object | undefined])[] = [
    ['GET', '', undefined],
    ['GET', '/errors', undefined],
    ['GET', '/events', undefined],
    ['PATCH', '', { file_path: 'b.csv' }],
    ['PUT', '', undefined],
  ];

  it.each(operations)(
    "a customer's audience is unchanged by %s <id>%s from any other caller, who gets 404",
    async (method, sub, body) => {
      for (const [caller, { client }] of callers) {
        const missing = await client.expectProblem(method, `${audiencePath}/999999${sub}`, body);
        expect(missing).toMatchObject({ status: 404, code: 'not_found' });
        for (const [owner, { audienceId }] of callers) {
          if (owner === caller) continue;
          const { request_id: _id, ...problem } = await client.expectProblem(
            method,
            `${audiencePath}/${audienceId}${sub}`,
            body,
          );
          const expectedProblem = JSON.stringify({ ...missing, request_id: undefined }).replaceAll(
            '999999',
            String(audienceId),
          );
          expect(problem, `${caller} to ${owner}`).toEqual(JSON.parse(expectedProblem));
        }
      }
      for (const [name, { client, audienceId }] of callers) {
        const details = await client.get(audienceId);
        expect(details).toMatchObject({ name, status: 2, unique_devices: 5, file: [{ rows_uploaded: 5 }] });
      }
    },
  );

  it("a customer's audience can be appended to and cleared by its customer", async () => {
    for (const { client, audienceId } of callers.values()) {
      await client.append(audienceId, 'b.csv');
      expect(await client.settled(audienceId)).toMatchObject({ status: 2, unique_devices: 7 });
    }
    const acme = callers.get('acme');
    await acme?.client.clear(acme.audienceId);
    for (const [name, { client, audienceId }] of callers) {
      expect(await client.get(audienceId)).toMatchObject({ unique_devices: name === 'acme' ? 0 : 7 });
    }
  });

  it("a customer's audience is loaded from files under the partner's prefix", async () => {
    const acme = callers.get('acme');
    const stolen = await acme?.client.create('try', `${stranger.prefix}a.csv`);
    const details = await acme?.client.settled(stolen?.audienceId ?? 0);
    expect(details).toMatchObject({
      status: 3,
      file: [{ s3_path: `${market.partner.prefix}${stranger.prefix}a.csv`, status: 3, rows_uploaded: 0 }],
    });
  });

  it("a customer's audience is inaccessible in every operation with an invalid or revoked token or another partner's token", async () => {
    const own = callers.get('partner')?.audienceId ?? 0;
    const wrong = [
      tokens.revoked,
      tokens.strangers,
      'nonsense',
      'x'.repeat(1000),
      `${tokens.acme}x`,
      '',
      market.partner.apiKey,
    ];
    const calls: typeof operations = [
      ['GET', audiencePath, undefined],
      ['POST', audiencePath, { name: 'x', file_path: 'a.csv' }],
      ...operations.map(([method, sub, body]) => [method, `${audiencePath}/${own}${sub}`, body] as const),
    ];
    const details = new Set<string>();
    for (const token of wrong) {
      for (const [method, path, body] of calls) {
        const init = body ? { method, body: JSON.stringify(body) } : { method };
        const answer = await clientWith(token).request(path, init);
        expect([method, answer.status], token).toEqual([method, 401]);
        const problem = problemSchema.parse(await readProblem(answer));
        expect(problem.code).toBe('invalid_user_token');
        details.add(problem.detail);
      }
    }
    // The response does not reveal why the token is invalid.
    expect(details.size).toBe(1);
    expect(await clientWith().get(own)).toMatchObject({ status: 2, unique_devices: 7 });
    expect(await clientWith().list()).toHaveLength(1);
  });

  it("a customer's audience is inaccessible without the partner's API key", async () => {
    const answer = await fetch(market.service.url + audiencePath, { headers: { 'x-user-token': tokens.acme } });
    expect(answer.status).toBe(401);
    expect(problemSchema.parse(await readProblem(answer)).code).toBe('unauthenticated');
  });

  it.each(['0', '-1', 'abc', '1.5', '99999999999999999999', '%2e%2e', '1%00'])(
    'returns 404 for the ID %s in every operation',
    async (id) => {
      for (const [method, sub, body] of operations) {
        const problem = await clientWith().expectProblem(method, `${audiencePath}/${id}${sub}`, body);
        expect(problem).toMatchObject({ status: 404, code: 'not_found' });
      }
    },
  );
});
