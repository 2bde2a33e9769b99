import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { partnerSemaphore } from './row-security.ts';

describe('a partner semaphore', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const entering = (most = 2) => {
    const { acquire } = partnerSemaphore(most, 5_000);
    const log: string[] = [];
    const come = (partnerId: number, name: string): Promise<() => void> => {
      const entered = acquire(partnerId);
      entered.then(
        () => log.push(name),
        () => log.push(`${name} left`),
      );
      return entered;
    };
    return { come, log };
  };

  it('limits permits for each partner separately', async () => {
    const { come, log } = entering();
    for (const name of ['a1', 'a2', 'a3', 'a4']) void come(1, name);
    for (const name of ['b1', 'b2']) void come(2, name);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(log).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  it('grants permits in the order of the requests', async () => {
    const { come, log } = entering(1);
    const leave = await come(1, '1');
    const others = ['2', '3', '4'].map((name) => come(1, name).then((leaveAgain) => leaveAgain()));
    leave();
    await Promise.all(others);
    expect(log).toEqual(['1', '2', '3', '4']);
    await come(1, '5');
    expect(log.at(-1)).toBe('5');
  });

  it('rejects a request after the timeout without using a permit', async () => {
    const { come, log } = entering(1);
    const leave = await come(1, '1');
    const late = come(1, '2').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(3_000);
    void come(1, '3');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await late).toMatchObject({ code: 'unavailable' });
    leave();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(log).toEqual(['1', '2 left', '3']);
  });
});
