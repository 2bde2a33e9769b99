import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startTakeovers, type Takeovers } from './takeover.ts';

describe('what a worker was at', () => {
  let takeovers: Takeovers;
  beforeAll(async () => {
    takeovers = await startTakeovers();
  });
  afterAll(() => takeovers.stop());

  const secondsOf = async (how: 'SIGKILL' | 'SIGSTOP', times: number): Promise<number[]> => {
    const seconds: number[] = [];
    for (let time = 0; time < times; time++) seconds.push(await takeovers.takeOver(how));
    seconds.sort((one, other) => one - other);
    process.stdout.write(`takeover after ${how}: ${seconds.map((one) => one.toFixed(2)).join(' ')} s\n`);
    return seconds;
  };

  it('runs elsewhere within two seconds after it is killed', async () => {
    const seconds = await secondsOf('SIGKILL', inject('kills'));
    expect(seconds[Math.ceil(seconds.length * 0.95) - 1]).toBeLessThan(2);
    expect(seconds.at(-1)).toBeLessThan(15);
  });

  it('runs elsewhere within fifteen seconds after it stands still', async () => {
    const seconds = await secondsOf('SIGSTOP', 1);
    expect(seconds.at(-1)).toBeLessThan(15);
  });

  it('is done in the end, once', async () => {
    expect(await takeovers.audit()).toEqual([]);
  });
});
