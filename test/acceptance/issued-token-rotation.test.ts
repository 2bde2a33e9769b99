import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { newSigningKey } from '../../dev/signing-key.ts';
import { signToken, startIssuer, type TestIssuer } from '../support/oidc-issuer.ts';
import { startAudiences, type Audiences } from '../support/start-audiences.ts';
import { waitUntil } from '../support/wait-until.ts';
import { audienceClient, audiencePath } from './audience-client.ts';

// The issuer rotates its keys during calls, while an intruder keeps sending tokens that are signed with unknown keys.

type Call = { readonly start: number; readonly end: number; readonly status: number };

const keysSeconds = 5;
const leastRotations = 3;
const leastCalls = 21;

describe('a key rotation at the issuer', () => {
  let issuer: TestIssuer;
  let market: Audiences;

  const call = async (token: string): Promise<Call> => {
    const start = performance.now();
    const { status } = await audienceClient(market.service.url, market.partner.apiKey, token).request(audiencePath);
    return { start, end: performance.now(), status };
  };

  beforeAll(async () => {
    issuer = await startIssuer();
    market = await startAudiences('issued-token-rotation', {
      ...issuer.settings,
      INLET_OIDC_KEYS_SECONDS: String(keysSeconds),
    });
    await market.partner.createCustomer('Acme');
  });
  afterAll(async () => {
    await market.stop();
    await issuer.close();
  });

  const situations = [
    { who: 'an intruder that causes the maximum rate of issuer requests', intruders: [1] },
    { who: 'no intruder', intruders: [] },
  ];

  it.for(inject('campaign') === 'long' ? situations : situations.slice(0, 1))(
    'a key rotation never rejects a valid token and invalidates tokens signed with withdrawn keys in time, with $who',
    async (given, { annotate }) => {
      const newToken = (): Promise<string> => issuer.token(market.partner.name, 'Acme');
      const over = new AbortController();
      const repeat = async (run: () => Promise<void>): Promise<void> => {
        while (!over.signal.aborted) await run();
      };
      const withdrawn = new Map<string, number>();
      const calls: (Call & { readonly kid: string })[] = [];
      const caller = async (): Promise<void> => {
        const token = await newToken();
        calls.push({ ...(await call(token)), kid: decodeProtectedHeader(token).kid ?? '' });
      };
      const foreign = await newSigningKey();
      const unknown: Call[] = [];
      const intruder = async (): Promise<void> => {
        const claims = { iss: issuer.issuer, exp: Math.floor(Date.now() / 1000) + 60 };
        unknown.push(await call(await signToken(foreign, claims)));
      };
      const longest: number[] = [];
      const firsts: number[] = [];
      const rotate = async (): Promise<void> => {
        const oldKey = issuer.key();
        const oldToken = await newToken();
        const newKey = await newSigningKey();
        issuer.useKeys(newKey, oldKey);
        const token = await newToken();
        expect(decodeProtectedHeader(token).kid).toBe(newKey.kid);
        const [first, old] = [await call(token), await call(oldToken)];
        expect([first.status, old.status]).toEqual([200, 200]);
        firsts.push(first.end - first.start);
        const goneAt = performance.now();
        withdrawn.set(oldKey.kid, goneAt);
        issuer.useKeys(newKey);
        let taken = goneAt;
        await waitUntil('the old token is rejected', async () => {
          const { start, status } = await call(oldToken);
          if (status === 200) taken = start;
          return status === 401;
        });
        longest.push(taken - goneAt);
        for (let more = 0; more < 10; more++) expect((await call(oldToken)).status).toBe(401);
      };
      // A token can be rejected if its key is withdrawn while the request is in flight.
      const goodCalls = () => calls.filter(({ kid, end }) => end < (withdrawn.get(kid) ?? Infinity));
      const others = [caller, caller, ...given.intruders.map(() => intruder)].map(repeat);
      try {
        const end = performance.now() + 120_000;
        const isEnough = () => longest.length >= leastRotations && goodCalls().length >= leastCalls;
        while (!isEnough() && performance.now() < end) await rotate();
      } finally {
        over.abort();
      }
      await Promise.all(others);
      const good = goodCalls();
      const most = (numbers: readonly number[]): number => Math.round(Math.max(...numbers));
      await annotate(
        `${longest.length} rotations, ${good.length} valid calls; the slowest first call with a new key took ${most(firsts)} ms; tokens of a withdrawn key were accepted for at most ${most(longest)} of ${keysSeconds * 1000} ms`,
      );
      expect(good.filter(({ status }) => status !== 200)).toEqual([]);
      expect(good.length).toBeGreaterThanOrEqual(leastCalls);
      expect(unknown.filter(({ status }) => status !== 401)).toEqual([]);
      expect(most(longest)).toBeLessThanOrEqual(keysSeconds * 1000);
    },
  );
});
