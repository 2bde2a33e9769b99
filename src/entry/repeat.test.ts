import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Log } from '../ports/observability.ts';
import { repeat } from './repeat.ts';

const pause = 1_000;

describe('a repeated task', () => {
  const warn = vi.fn<Log['warn']>();
  const log: Log = { info: () => undefined, warn, error: () => undefined };

  beforeEach(() => {
    vi.useFakeTimers();
    warn.mockClear();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('pauses before each run of the task, including the first', async () => {
    const task = vi.fn<() => Promise<void>>(async () => undefined);
    const { stop } = repeat(pause, task, log);
    await vi.advanceTimersByTimeAsync(pause - 1);
    expect(task).toHaveBeenCalledTimes(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(task).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(3 * pause);
    expect(task).toHaveBeenCalledTimes(4);
    expect(warn).not.toHaveBeenCalled();
    await stop();
  });

  it('logs a failure and continues', async () => {
    const failure = new Error('database unavailable');
    const task = vi.fn<() => Promise<void>>(async () => undefined);
    task.mockRejectedValueOnce(failure);
    const { stop } = repeat(pause, task, log);
    await vi.advanceTimersByTimeAsync(2 * pause);
    expect(task).toHaveBeenCalledTimes(2);
    expect(warn.mock.calls).toEqual([[{ err: failure }, 'background task failed']]);
    await stop();
  });

  it('waits for at least a second after a failure', async () => {
    const task = vi.fn<() => Promise<void>>(async () => Promise.reject(new Error('database unavailable')));
    const { stop } = repeat(100, task, log);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(task).toHaveBeenCalledTimes(5);
    await stop();
  });

  it('runs the task immediately after a change, unless the last run failed', async () => {
    let change = (): void => undefined;
    const changes = { subscribe: (onChange: (partnerId: number | null) => void) => void (change = () => onChange(1)) };
    const task = vi.fn<() => Promise<void>>(async () => undefined);
    const { stop } = repeat(pause, task, log, changes);
    change();
    await vi.advanceTimersByTimeAsync(1);
    expect(task).toHaveBeenCalledTimes(1);
    task.mockRejectedValueOnce(new Error('database unavailable'));
    change();
    await vi.advanceTimersByTimeAsync(1);
    expect(task).toHaveBeenCalledTimes(2);
    change();
    await vi.advanceTimersByTimeAsync(pause - 10);
    expect(task).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(10);
    expect(task).toHaveBeenCalledTimes(4);
    await stop();
  });

  it('runs the task again immediately if a change occurs while it is running', async () => {
    let change = (): void => undefined;
    const changes = { subscribe: (onChange: (partnerId: number | null) => void) => void (change = () => onChange(1)) };
    const first = Promise.withResolvers<undefined>();
    const task = vi.fn<() => Promise<void>>(async () => undefined).mockReturnValueOnce(first.promise);
    const { stop } = repeat(pause, task, log, changes);
    await vi.advanceTimersByTimeAsync(pause);
    change();
    first.resolve(undefined);
    await vi.advanceTimersByTimeAsync(1);
    expect(task).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(pause - 10);
    expect(task).toHaveBeenCalledTimes(2);
    await stop();
  });

  it('never runs the task twice at the same time', async () => {
    const first = Promise.withResolvers<undefined>();
    const task = vi.fn<() => Promise<void>>(() => first.promise);
    const { stop } = repeat(pause, task, log);
    await vi.advanceTimersByTimeAsync(10 * pause);
    expect(task).toHaveBeenCalledTimes(1);
    first.resolve(undefined);
    await vi.advanceTimersByTimeAsync(pause);
    expect(task).toHaveBeenCalledTimes(2);
    await stop();
  });

  it('stops immediately during a pause and never runs again', async () => {
    const task = vi.fn<() => Promise<void>>(async () => undefined);
    const { stop } = repeat(pause, task, log);
    await stop();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(5 * pause);
    expect(task).not.toHaveBeenCalled();
  });

  it('waits for the current run before it stops', async () => {
    const running = Promise.withResolvers<undefined>();
    const { stop } = repeat(pause, () => running.promise, log);
    await vi.advanceTimersByTimeAsync(pause);
    const stopped = vi.fn<() => void>();
    const stopping = stop().then(stopped);
    await vi.advanceTimersByTimeAsync(5 * pause);
    expect(stopped).not.toHaveBeenCalled();
    running.resolve(undefined);
    await stopping;
    expect(stopped).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
