import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChangeFeed } from '../../ports/records.ts';
import { retryOnChange } from './retry-on-change.ts';

type Subscriber = Parameters<ChangeFeed['subscribe']>[0];

const timeoutMs = 20_000;

describe('retrying on changes', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function start() {
    const subscribers: Subscriber[] = [];
    const retry = retryOnChange({ subscribe: (subscriber) => void subscribers.push(subscriber) });
    /** Retries an attempt that succeeds once `isReady` is set. */
    const waitFor = (partnerId: number) => {
      const state = { isReady: false, attempts: 0, result: '' };
      const attempt = (): Promise<string | null> => {
        state.attempts += 1;
        return Promise.resolve(state.isReady ? 'ready' : null);
      };
      void retry(partnerId, attempt, timeoutMs).then((result) => (state.result = result ?? 'timeout'));
      return state;
    };
    const change = async (partnerId: number | null): Promise<void> => {
      for (const subscriber of subscribers) subscriber(partnerId);
      await vi.advanceTimersByTimeAsync(0);
    };
    return { subscribers, retry, waitFor, change };
  }

  it("retries immediately after a change to the partner's data, but not to another partner's data", async () => {
    const { waitFor, change } = start();
    const [one, other] = [waitFor(1), waitFor(2)];
    await vi.advanceTimersByTimeAsync(0);
    one.isReady = true;
    other.isReady = true;
    await change(1);
    expect([one.result, other.result]).toEqual(['ready', '']);
    await change(2);
    expect(other.result).toBe('ready');
  });

  it('retries for every partner if changes may have been missed', async () => {
    const { waitFor, change } = start();
    const all = [waitFor(1), waitFor(2)];
    await vi.advanceTimersByTimeAsync(0);
    for (const state of all) state.isReady = true;
    await change(null);
    expect(all.map(({ result }) => result)).toEqual(['ready', 'ready']);
  });

  it('retries immediately if a change occurs during an attempt', async () => {
    const { retry, change } = start();
    const first = Promise.withResolvers<null>();
    const attempt = vi.fn<() => Promise<string | null>>().mockReturnValueOnce(first.promise);
    attempt.mockResolvedValueOnce('ready');
    const result = retry(1, attempt, timeoutMs);
    await change(1);
    first.resolve(null);
    expect(await result).toBe('ready');
    expect(attempt).toHaveBeenCalledTimes(2);
  });

  it('also retries without a change, first after 50 ms and later every 500 ms', async () => {
    const { waitFor } = start();
    const state = waitFor(1);
    await vi.advanceTimersByTimeAsync(50);
    expect(state.attempts).toBe(2);
    await vi.advanceTimersByTimeAsync(10_000);
    const before = state.attempts;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(state.attempts - before).toBe(10);
  });

  it('returns null after the timeout', async () => {
    const { waitFor } = start();
    const state = waitFor(1);
    await vi.advanceTimersByTimeAsync(timeoutMs + 1_000);
    expect(state.result).toBe('timeout');
  });

  it('subscribes only once, on the first call', async () => {
    const { waitFor, subscribers } = start();
    expect(subscribers).toHaveLength(0);
    waitFor(1);
    waitFor(2);
    await vi.advanceTimersByTimeAsync(0);
    expect(subscribers).toHaveLength(1);
  });
});
