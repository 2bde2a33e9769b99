import { describe, expect, it } from 'vitest';
import type { Log } from '../../ports/observability.ts';
import { type KeyCache, cacheKeys, keyTimes } from './key-set.ts';

const quiet: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const times = keyTimes(300_000);

/** An issuer with a fake clock and controlled responses. */
function setUp(): {
  readonly cache: KeyCache<string>;
  readonly requests: () => number;
  readonly passTime: (milliseconds: number) => Promise<void>;
  readonly issuer: { keys: string; isDown: boolean; takesMs: number };
} {
  let time = 0;
  let requests = 0;
  const issuer = { keys: 'first', isDown: false, takesMs: 0 };
  const sleepers: { until: number; wake: () => void }[] = [];
  const pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      sleepers.push({ until: time + milliseconds, wake: resolve });
    });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  const passTime = async (milliseconds: number): Promise<void> => {
    await settle();
    time += milliseconds;
    for (const { wake } of sleepers.filter(({ until }) => until <= time)) wake();
    await settle();
  };
  const fetchKeys = async (): Promise<string> => {
    requests += 1;
    const { keys, isDown } = issuer;
    if (issuer.takesMs > 0) await pause(issuer.takesMs);
    if (isDown) throw new Error('unavailable');
    return keys;
  };
  return {
    cache: cacheKeys(fetchKeys, times, quiet, { now: () => time, pause }),
    requests: () => requests,
    passTime,
    issuer,
  };
}

describe('cacheKeys', () => {
  it('shares one request between concurrent callers and caches the keys', async () => {
    const { cache, requests, passTime } = setUp();
    const all = await Promise.all(Array.from({ length: 50 }, () => cache.current()));
    expect(new Set(all.map(({ keys }) => keys))).toEqual(new Set(['first']));
    await passTime(59_999);
    await cache.current();
    expect(requests()).toBe(1);
  });

  it('refreshes keys after a minute and uses the old keys in the meantime', async () => {
    const { cache, requests, passTime, issuer } = setUp();
    await cache.current();
    issuer.keys = 'second';
    await passTime(60_000);
    expect((await cache.current()).keys).toBe('first');
    await passTime(0);
    expect((await cache.current()).keys).toBe('second');
    expect(requests()).toBe(2);
  });

  it('uses keys only until their maximum age while the issuer is down', async () => {
    const { cache, passTime, issuer } = setUp();
    await cache.current();
    issuer.isDown = true;
    await passTime(299_999);
    expect((await cache.current()).keys).toBe('first');
    await passTime(1);
    await expect(cache.current()).rejects.toThrow('unavailable');
    await passTime(3_600_000);
    await expect(cache.current()).rejects.toThrow('unavailable');
    issuer.isDown = false;
    await passTime(5_000);
    expect((await cache.current()).keys).toBe('first');
  });

  it('measures the age of keys from the request, not from the response', async () => {
    const { cache, passTime, issuer } = setUp();
    issuer.takesMs = 4_000;
    const first = cache.current();
    await passTime(4_000);
    expect((await first).requestedAt).toBe(0);
    issuer.isDown = true;
    issuer.takesMs = 0;
    await passTime(296_000);
    await expect(cache.current()).rejects.toThrow('unavailable');
  });

  it('fails immediately during the cooldown after a failed request', async () => {
    const { cache, requests, passTime, issuer } = setUp();
    issuer.isDown = true;
    for (let turn = 0; turn < 100; turn++) await expect(cache.current()).rejects.toThrow('unavailable');
    expect(requests()).toBe(1);
    await passTime(4_999);
    await expect(cache.current()).rejects.toThrow('unavailable');
    expect(requests()).toBe(1);
    await passTime(1);
    await expect(cache.since(5_000)).rejects.toThrow('unavailable');
    expect(requests()).toBe(2);
  });

  it('requests newer keys when the cooldown is over', async () => {
    const { cache, requests, passTime, issuer } = setUp();
    await cache.current();
    await passTime(1_000);
    issuer.keys = 'second';
    const newer = Promise.all(Array.from({ length: 50 }, () => cache.since(1_000)));
    await passTime(3_999);
    expect(requests()).toBe(1);
    await passTime(1);
    expect(new Set((await newer).map(({ keys }) => keys))).toEqual(new Set(['second']));
    expect(requests()).toBe(2);
  });

  it('does not accept keys that were requested before the given time', async () => {
    const { cache, requests, passTime, issuer } = setUp();
    await cache.current();
    issuer.takesMs = 2_000;
    await passTime(5_000);
    const early = cache.since(5_000);
    await passTime(1_000);
    issuer.keys = 'second';
    const late = cache.since(6_000);
    await passTime(1_000);
    expect((await early).keys).toBe('first');
    await passTime(3_000);
    await passTime(2_000);
    expect(await late).toEqual({ keys: 'second', requestedAt: 10_000 });
    expect(requests()).toBe(3);
  });

  it.each([1, 2, 5, 60, 300, 86_400])('with a maximum age of %i s, refreshes keys before they expire', (seconds) => {
    const { maxAgeMs, refreshMs, cooldownMs, timeoutMs } = keyTimes(seconds * 1000);
    expect(maxAgeMs).toBe(seconds * 1000);
    expect(cooldownMs).toBeLessThan(refreshMs);
    expect(refreshMs + timeoutMs).toBeLessThan(maxAgeMs);
  });
});
