import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { repeat } from './repeat.ts';

describe('a repeated call', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function attention(isPresent = true) {
    const listeners = new Set<() => void>();
    return {
      isPresent: () => isPresent,
      watch: (listener: () => void) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      set: (present: boolean): void => {
        isPresent = present;
        for (const listener of listeners) listener();
      },
      listeners,
    };
  }

  function slowCall(takesMs: number, delay: number | undefined) {
    const signals: AbortSignal[] = [];
    let ended = 0;
    const run = async (signal: AbortSignal): Promise<number | undefined> => {
      signals.push(signal);
      await new Promise((resolve) => setTimeout(resolve, takesMs));
      ended += 1;
      return delay;
    };
    return { run, signals, ended: () => ended };
  }

  it('waits after each response, so that slow responses are not aborted', async () => {
    const call = slowCall(10_000, 3_000);
    const stop = repeat(call.run, attention());
    await vi.advanceTimersByTimeAsync(12_999);
    expect([call.signals.length, call.ended()]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect([call.signals.length, call.ended()]).toEqual([2, 1]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([call.signals.length, call.ended()]).toEqual([2, 2]);
    expect(call.signals[0]?.aborted).toBe(false);
    stop();
  });

  it('stops when it has nothing to wait for', async () => {
    const call = slowCall(1, undefined);
    repeat(call.run, attention());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.signals).toHaveLength(1);
  });

  it('waits while nobody is present, and runs immediately afterward', async () => {
    const call = slowCall(1, 3_000);
    const reader = attention();
    const stop = repeat(call.run, reader);
    await vi.advanceTimersByTimeAsync(1);
    reader.set(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.signals).toHaveLength(1);
    reader.set(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(call.signals).toHaveLength(2);
    // The reader comes back before the next call is due.
    reader.set(false);
    reader.set(true);
    expect(call.signals).toHaveLength(2);
    stop();
  });

  it('runs once even if nobody is present', () => {
    const call = slowCall(1, 3_000);
    const stop = repeat(call.run, attention(false));
    expect(call.signals).toHaveLength(1);
    stop();
  });

  it('ends when it is stopped', async () => {
    const call = slowCall(1_000, 3_000);
    const reader = attention();
    repeat(call.run, reader)();
    expect(call.signals[0]?.aborted).toBe(true);
    expect(reader.listeners.size).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.signals).toHaveLength(1);
  });
});
