import { describe, expect, it } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

describe('reading one at a time', () => {
  it('gives all who ask meanwhile the next reading, which begins when the one before has ended', async () => {
    const began: PromiseWithResolvers<number>[] = [];
    const read = oneAtATime(() => {
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

  it('goes on after a reading that failed', async () => {
    let count = 0;
    const read = oneAtATime(() => {
      count += 1;
      return count === 1 ? Promise.reject(new Error('away')) : Promise.resolve(count);
    });
    await expect(read()).rejects.toThrow('away');
    expect(await read()).toBe(2);
  });
});
