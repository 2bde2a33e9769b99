import { describe, expect, it } from 'vitest';
import { Slots } from './slots.ts';

describe('Slots', () => {
  it('runs at most the given number of tasks at the same time, even after a failure', async () => {
    const slots = new Slots(3);
    let running = 0;
    let most = 0;
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, task) =>
        slots.run(async () => {
          running += 1;
          most = Math.max(most, running);
          await new Promise((resolve) => setTimeout(resolve, 1));
          running -= 1;
          if (task % 4 === 0) throw new Error('failed');
          return task;
        }),
      ),
    );
    expect(most).toBe(3);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(15);
  });
});
