import type { RequestListener } from 'node:http';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { startIssuer, type TestIssuer } from '../support/oidc-issuer.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import type { Ran } from '../support/run-inlet.ts';
import { runOperator } from '../support/run-operator.ts';
import { startAudiences, type Audiences } from '../support/start-audiences.ts';
import { createStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readProblem } from './api-client.ts';
import { audienceClient, audiencePath, type AudienceClient } from './audience-client.ts';

// Uses a real OpenID provider with its tokens and a real API process.

describe('user tokens from an OpenID Connect issuer', () => {
  const keysSeconds = 4;
  let issuer: TestIssuer;
  let market: Audiences;
  let stranger: TestPartner;
  let operatorToken: string;

  const clientWith = (token: string, apiKey = market.partner.apiKey): AudienceClient =>
    audienceClient(market.service.url, apiKey, token);
  const statusWith = async (token: string): Promise<number> => (await clientWith(token).request(audiencePath)).status;
  const untilStale = (token: string): Promise<void> =>
    waitUntil('the cached keys have expired', async () => (await statusWith(token)) === 503, 60, 100);
  const untilFresh = (token: string): Promise<void> =>
    waitUntil('the keys are refreshed', async () => (await statusWith(token)) === 200, 60, 100);

  beforeAll(async () => {
    issuer = await startIssuer('RS256');
    market = await startAudiences('issued-tokens', {
      ...issuer.settings,
      INLET_OIDC_KEYS_SECONDS: String(keysSeconds),
    });
    stranger = await createPartner(market.stores.environment);
    operatorToken = (await market.partner.createCustomer('Acme')).userToken;
    await market.partner.createCustomer('Globex');
    await stranger.createCustomer('Acme');
    for (const partner of [market.partner, stranger]) await partner.upload('a.csv', rows(0, 5));
  });
  afterEach(() => issuer.answerWith(null));
  afterAll(async () => {
    await market.stop();
    await issuer.close();
  });

  it('an issued token gives access only to the audiences of the named customer', async () => {
    const made = new Map<string, { client: AudienceClient; audienceId: number }>();
    for (const [partner, customer] of [
      [market.partner, 'Acme'],
      [market.partner, 'Globex'],
      [stranger, 'Acme'],
    ] as const) {
      const client = clientWith(await issuer.token(partner.name, customer), partner.apiKey);
      const name = `${customer} of ${partner.name}`;
      const { audienceId } = await client.create(name, 'a.csv');
      expect(await client.settled(audienceId)).toMatchObject({ name, status: 2, unique_devices: 5 });
      made.set(name, { client, audienceId });
    }
    for (const [name, { client, audienceId }] of made) {
      expect((await client.list()).map((one) => [one.audience_id, one.name])).toEqual([[audienceId, name]]);
      for (const [other, { audienceId: theirs }] of made) {
        const { status } = await client.request(`${audiencePath}/${theirs}`);
        expect(status, `${name} to ${other}`).toBe(other === name ? 200 : 404);
      }
    }
    // Uses the same customer with a token that the operator created.
    const [acme] = await clientWith(operatorToken).list();
    expect(acme).toMatchObject({ name: `Acme of ${market.partner.name}` });
    expect(await market.audiences.list()).toEqual([]);
  });

  it('tokens are verified with cached keys while the issuer is down, until these keys expire', async () => {
    const token = await issuer.token(market.partner.name, 'Acme');
    expect(await statusWith(token)).toBe(200);
    await issuer.close();
    const left = performance.now();
    let lastAccepted = Number.NaN;
    await waitUntil('the cached keys have expired', async () => {
      const start = performance.now();
      const status = await statusWith(token);
      if (status === 200) lastAccepted = start - left;
      return status === 503;
    });
    expect(lastAccepted).toBeLessThanOrEqual(keysSeconds * 1000);
    expect(lastAccepted).toBeGreaterThan(keysSeconds * 1000 * 0.5);
    const answer = await clientWith(token).request(audiencePath);
    expect(answer.headers.get('retry-after')).toBe('5');
    const problem = problemSchema.strict().parse(await readProblem(answer));
    expect(problem).toMatchObject({ status: 503, code: 'issuer_away' });
    expect(JSON.stringify(problem)).not.toContain(token.slice(0, 20));
    expect(await statusWith(operatorToken)).toBe(200);
    expect(await market.audiences.list()).toEqual([]);
    await issuer.reopen();
    await untilFresh(token);
  });

  const wrongAnswers: Record<string, RequestListener> = {
    'a huge key set': (request, response) => {
      if (request.url === '/jwks') response.end(`{"keys":[${'{"kty":"RSA"},'.repeat(1_000_000)}{"kty":"RSA"}]}`);
      else response.end(JSON.stringify({ issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/jwks` }));
    },
    'no response': () => undefined,
    'one byte in 100 ms': (_request, response) => {
      const timer = setInterval(() => void response.write(' '), 100);
      response.on('close', () => clearInterval(timer));
    },
    'a redirect': (_request, response) => {
      response.writeHead(302, { location: `${issuer.issuer}/elsewhere` }).end();
    },
    'the document of another issuer': (_request, response) => {
      response.end(JSON.stringify({ issuer: 'https://other.example', jwks_uri: `${issuer.issuer}/jwks` }));
    },
    'invalid JSON': (_request, response) => void response.end('<html>'),
    'an error': (_request, response) => void response.writeHead(500).end(),
  };
  const tested = Object.keys(wrongAnswers);
  it.each(inject('campaign') === 'long' ? tested : tested.slice(0, 3))(
    'returns 503 while the issuer returns %s and does not delay other callers',
    async (what) => {
      const token = await issuer.token(market.partner.name, 'Acme');
      await untilFresh(token);
      issuer.answerWith(wrongAnswers[what] ?? null);
      await untilStale(token);
      const start = performance.now();
      expect(await statusWith(operatorToken)).toBe(200);
      expect(performance.now() - start).toBeLessThan(2_000);
      issuer.answerWith(null);
      await untilFresh(token);
    },
  );

  it('sends at most two requests per second to the issuer, regardless of the tokens', async () => {
    const token = await issuer.token(market.partner.name, 'Acme');
    const [, claims = '', signature = ''] = token.split('.');
    const unknown = (serial: number): string =>
      [
        Buffer.from(JSON.stringify({ alg: 'RS256', typ: 'at+jwt', kid: `unknown-${serial}` })).toString('base64url'),
        claims,
        signature,
      ].join('.');
    const [before, start] = [issuer.keyRequests(), performance.now()];
    const statuses = await Promise.all(Array.from({ length: 300 }, (_none, serial) => statusWith(unknown(serial))));
    expect(new Set(statuses)).toEqual(new Set([401]));
    const seconds = (performance.now() - start) / 1000;
    expect(issuer.keyRequests() - before).toBeLessThanOrEqual(Math.ceil(seconds * 2) + 1);
  });
});

describe('an installation with an OpenID Connect issuer', () => {
  it('lets `inlet doctor` check the issuer and reject incomplete settings', async () => {
    const issuer = await startIssuer();
    const stores = await createStores('one');
    const environment = { ...stores.environment, ...issuer.settings };
    const doctor = (settings: Readonly<Record<string, string>>): Promise<Ran> => runOperator(settings, ['doctor']);
    const well = await doctor(environment);
    expect(well.out).toContain(`ok     OpenID Connect issuer: 1 of 1 keys of ${issuer.issuer} can be used with ES256`);
    const other = await doctor({ ...environment, INLET_OIDC_ALGORITHMS: 'RS256' });
    expect(other.out).toContain('has no usable key for RS256');
    const closed = await doctor({ ...environment, INLET_OIDC_NETWORKS: '' });
    expect(closed.out).toContain('add it to INLET_OIDC_NETWORKS');
    await issuer.close();
    const unreachable = await doctor(environment);
    expect(unreachable.out).toContain('FAIL   OpenID Connect issuer: connect ECONNREFUSED');
    expect(unreachable.code).toBe(1);
    expect((await doctor(stores.environment)).out).not.toContain('OpenID Connect issuer');
    const half = await doctor({ ...environment, INLET_OIDC_AUDIENCE: '' });
    expect(half.code).toBe(2);
    expect(half.err).toContain('INLET_OIDC_AUDIENCE: is required if any other INLET_OIDC_ setting is set');
    await stores.drop();
  });
});
