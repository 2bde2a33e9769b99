import Fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InvalidApiKey } from '../../domain/caller.ts';
import { formatKey } from '../../domain/key-format.ts';
import { addProblemAnswers } from './problems.ts';
import { guardAgainstWrongKeys, keyIn } from './wrong-key-limit.ts';
import type { Api } from './api.ts';

const most = 5;

describe('the limit on invalid keys', () => {
  let api: Api;
  let lookups: string[];
  let concurrent: number;
  let maxConcurrent: number;
  let hold: Promise<unknown>;
  let hasEnded: boolean;

  beforeEach(() => {
    [lookups, concurrent, maxConcurrent, hold, hasEnded] = [[], 0, 0, Promise.resolve(), false];
    api = Fastify();
    addProblemAnswers(api);
    const guard = guardAgainstWrongKeys({ wrongKeysPerAddress: most });
    api.get('/', (request, reply) => {
      const { authorization = '' } = request.headers;
      const endsForGood = authorization.includes('session');
      return guard(request, reply, { ...keyIn(authorization), endsForGood }, () => lookUp(authorization));
    });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await api.close();
  });

  async function lookUp(authorization: string): Promise<string> {
    lookups.push(authorization);
    concurrent += 1;
    maxConcurrent = Math.max(maxConcurrent, concurrent);
    await hold;
    await new Promise(setImmediate);
    concurrent -= 1;
    if (!authorization.includes('good') || hasEnded) throw new InvalidApiKey(null);
    return 'yes';
  }
  const send = async (authorization: string, remoteAddress = '203.0.113.7'): Promise<number> =>
    (await api.inject({ url: '/', headers: { authorization }, remoteAddress })).statusCode;
  const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

  it('looks up no more keys per address than the limit, even if requests arrive concurrently', async () => {
    const statuses = await Promise.all(times(500, (n) => send(`Bearer wrong-${n}`)));
    expect(lookups).toHaveLength(most);
    expect(statuses.filter((status) => status === 401)).toHaveLength(most);
    expect(statuses.filter((status) => status === 429)).toHaveLength(500 - most);
  });

  it('looks up unrecognized keys one at a time, even from different addresses', async () => {
    await Promise.all(times(200, (n) => send(`Bearer wrong-${n}`, `10.0.0.${n}`)));
    expect([lookups.length, maxConcurrent]).toEqual([200, 1]);
  });

  it('does not throttle keys that were valid in an earlier lookup', async () => {
    expect(await send('Bearer good')).toBe(200);
    await Promise.all(times(most, (n) => send(`Bearer wrong-${n}`)));
    expect(await send('Bearer good')).toBe(200);
    expect(await send('bearer   good')).toBe(200);
    expect(await send('Bearer good-too')).toBe(429);
    expect(await Promise.all(times(20, () => send('Bearer good')))).toEqual(times(20, () => 200));
    expect(maxConcurrent).toBeGreaterThan(1);
  });

  it('neither counts nor looks up a session that was valid and has ended', async () => {
    expect(await send('Bearer good-session')).toBe(200);
    hasEnded = true;
    // An open page keeps sending it, in several concurrent requests.
    expect(await Promise.all(times(most * 2, () => send('Bearer good-session')))).toEqual(times(most * 2, () => 401));
    const before = lookups.length;
    expect(await send('Bearer good-session')).toBe(401);
    expect(lookups).toHaveLength(before);
    hasEnded = false;
    // Another user at the same address signs in.
    expect(await send('Bearer good-too')).toBe(200);
  });

  it('counts a session that was never valid here', async () => {
    for (const n of times(most, (m) => m)) expect(await send(`Bearer session-${n}`)).toBe(401);
    expect(await send('Bearer session-again')).toBe(429);
  });

  it('looks up one key with a correct checksum per second while the address is throttled', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const wrong = (n: number): string => `Bearer ${formatKey('key', 'test', String(n).padStart(33, '0'))}`;
    await Promise.all(times(most, (n) => send(`Bearer wrong-${n}`)));
    expect(await send('Bearer wrong-again')).toBe(429);
    expect([await send(wrong(1)), await send(wrong(2))]).toEqual([401, 429]);
    vi.advanceTimersByTime(1_000);
    expect([await send('Bearer wrong-again'), await send(wrong(3)), await send(wrong(4))]).toEqual([429, 401, 429]);
  });

  it('admits all concurrent requests that use the same valid key for the first time', async () => {
    expect(await Promise.all(times(100, () => send('Bearer good')))).toEqual(times(100, () => 200));
  });

  it('rejects a key that waits too long for its lookup', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const held = Promise.withResolvers<null>();
    hold = held.promise;
    const first = send('Bearer good');
    await vi.waitUntil(() => lookups.length === 1);
    const second = api.inject({ url: '/', headers: { authorization: 'Bearer good-too' } });
    // The response to a later request shows that this request has arrived.
    expect((await api.inject({ url: '/elsewhere' })).statusCode).toBe(404);
    vi.advanceTimersByTime(5_000);
    held.resolve(null);
    expect(await first).toBe(200);
    expect((await second).json()).toMatchObject({ status: 503, code: 'unavailable' });
    expect(lookups).toEqual(['Bearer good']);
    expect(await send('Bearer good-too')).toBe(200);
  });
});
