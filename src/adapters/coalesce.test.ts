import { describe, expect, it, vi } from 'vitest';
import { coalesce, coalesceEach } from './coalesce.ts';

describe('coalesce', () => {
  it('shares the next read among all calls that arrive during a read', async () => {
    const began: PromiseWithResolvers<number>[] = [];
    const read = coalesce(() => {
      const reading = Promise.withResolvers<number>();
      began.push(reading);
      return reading.promise;
    });
    const first = read();
    await Promise.resolve();
    const others = [read(), read(), read()];
    expect(began).toHaveLength(1);
    began[0]?.resolve(1);
    expect(await first).toBe(1);
    await Promise.resolve();
    expect(began).toHaveLength(2);
    began[1]?.resolve(2);
    expect(await Promise.all(others)).toEqual([2, 2, 2]);
    expect(began).toHaveLength(2);
  });

  it('starts the next read after a failed read', async () => {
    let count = 0;
    const read = coalesce(() => {
      count += 1;
      return count === 1 ? Promise.reject(new Error('unavailable')) : Promise.resolve(count);
    });
    await expect(read()).rejects.toThrow('unavailable');
    expect(await read()).toBe(2);
  });
});

describe('coalesceEach', () => {
  it('reads different keys concurrently and shares the next read between calls for the same key', async () => {
    const began: string[] = [];
    const ends: (() => void)[] = [];
    const read = coalesceEach((key) => {
      began.push(key);
      return new Promise<number>((resolve) => ends.push(() => resolve(began.length)));
    });
    const first = read('a');
    const other = read('b');
    await Promise.resolve();
    const later = [read('a'), read('a')];
    expect(began).toEqual(['a', 'b']);
    for (const end of ends) end();
    expect(await Promise.all([first, other])).toEqual([2, 2]);
    await vi.waitFor(() => expect(began).toEqual(['a', 'b', 'a']));
    ends[2]?.();
    expect(await Promise.all(later)).toEqual([3, 3]);
  });

  it('starts a new read for a call that arrives after all earlier reads have completed', async () => {
    let count = 0;
    const read = coalesceEach(() => {
      count += 1;
      return Promise.resolve(count);
    });
    expect([await read('a'), await read('a')]).toEqual([1, 2]);
  });
});
