import { describe, expect, it } from 'vitest';
import type { Log } from '../../ports/observability.ts';
import { type HeldKeys, holdKeys, keyTimes } from './key-set.ts';

const quiet: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const times = keyTimes(300_000);

/** An issuer whose answers and time are in the hands of the test. */
function setUp(): {
  readonly held: HeldKeys<string>;
  readonly questions: () => number;
  readonly passTime: (milliseconds: number) => Promise<void>;
  readonly issuer: { keys: string; isAway: boolean; takesMs: number };
} {
  let time = 0;
  let questions = 0;
  const issuer = { keys: 'first', isAway: false, takesMs: 0 };
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
    questions += 1;
    const { keys, isAway } = issuer;
    if (issuer.takesMs > 0) await pause(issuer.takesMs);
    if (isAway) throw new Error('away');
    return keys;
  };
  return {
    held: holdKeys(fetchKeys, times, quiet, { now: () => time, pause }),
    questions: () => questions,
    passTime,
    issuer,
  };
}

describe('the keys of an issuer', () => {
  it('are asked for once by all who come at the same time, and then kept', async () => {
    const { held, questions, passTime } = setUp();
    const all = await Promise.all(Array.from({ length: 50 }, () => held.current()));
    expect(new Set(all.map(({ keys }) => keys))).toEqual(new Set(['first']));
    await passTime(59_999);
    await held.current();
    expect(questions()).toBe(1);
  });

  it('are asked for again after a minute, while the old ones are used', async () => {
    const { held, questions, passTime, issuer } = setUp();
    await held.current();
    issuer.keys = 'second';
    await passTime(60_000);
    expect((await held.current()).keys).toBe('first');
    await passTime(0);
    expect((await held.current()).keys).toBe('second');
    expect(questions()).toBe(2);
  });

  it('are used to the end of their time while the issuer is away, and not a moment longer', async () => {
    const { held, passTime, issuer } = setUp();
    await held.current();
    issuer.isAway = true;
    await passTime(299_999);
    expect((await held.current()).keys).toBe('first');
    await passTime(1);
    await expect(held.current()).rejects.toThrow('away');
    await passTime(3_600_000);
    await expect(held.current()).rejects.toThrow('away');
    issuer.isAway = false;
    await passTime(5_000);
    expect((await held.current()).keys).toBe('first');
  });

  it('have the age of the question, not of the answer', async () => {
    const { held, passTime, issuer } = setUp();
    issuer.takesMs = 4_000;
    const first = held.current();
    await passTime(4_000);
    expect((await first).askedAt).toBe(0);
    issuer.isAway = true;
    issuer.takesMs = 0;
    await passTime(296_000);
    await expect(held.current()).rejects.toThrow('away');
  });

  it('that failed to come are not asked for again at once, and nobody waits for them', async () => {
    const { held, questions, passTime, issuer } = setUp();
    issuer.isAway = true;
    for (let turn = 0; turn < 100; turn++) await expect(held.current()).rejects.toThrow('away');
    expect(questions()).toBe(1);
    await passTime(4_999);
    await expect(held.current()).rejects.toThrow('away');
    expect(questions()).toBe(1);
    await passTime(1);
    await expect(held.since(5_000)).rejects.toThrow('away');
    expect(questions()).toBe(2);
  });

  it('that are newer than a moment are asked for when the time between two questions is over', async () => {
    const { held, questions, passTime, issuer } = setUp();
    await held.current();
    await passTime(1_000);
    issuer.keys = 'second';
    const newer = Promise.all(Array.from({ length: 50 }, () => held.since(1_000)));
    await passTime(3_999);
    expect(questions()).toBe(1);
    await passTime(1);
    expect(new Set((await newer).map(({ keys }) => keys))).toEqual(new Set(['second']));
    expect(questions()).toBe(2);
  });

  it('that are newer than a moment are not those for which was asked before it', async () => {
    const { held, questions, passTime, issuer } = setUp();
    await held.current();
    issuer.takesMs = 2_000;
    await passTime(5_000);
    const early = held.since(5_000);
    await passTime(1_000);
    issuer.keys = 'second';
    const late = held.since(6_000);
    await passTime(1_000);
    expect((await early).keys).toBe('first');
    await passTime(3_000);
    await passTime(2_000);
    expect(await late).toEqual({ keys: 'second', askedAt: 10_000 });
    expect(questions()).toBe(3);
  });

  it.each([1, 2, 5, 60, 300, 86_400])('kept for %i s cannot be too old when they come', (seconds) => {
    const { maxAgeMs, refreshMs, cooldownMs, timeoutMs } = keyTimes(seconds * 1000);
    expect(maxAgeMs).toBe(seconds * 1000);
    expect(cooldownMs).toBeLessThan(refreshMs);
    expect(refreshMs + timeoutMs).toBeLessThan(maxAgeMs);
  });
});
