import { describe, expect, it } from 'vitest';
import { eventWaits } from './event-waits.ts';
import { followerLimit } from './record-broadcaster.ts';

function start(limits = { ofProcess: 10, ofPartner: 2 }) {
  const subscribers: ((partnerId: number | null) => void)[] = [];
  const waits = eventWaits({ subscribe: (onChange) => subscribers.push(onChange) }, followerLimit(limits));
  const notify = (partnerId: number | null): void => {
    for (const onChange of subscribers) onChange(partnerId);
  };
  const follow = (partnerId: number) => {
    const wait = waits.follow(of(partnerId));
    if (!wait) throw new Error('no slot is free');
    return wait;
  };
  return { waits, notify, follow, subscribers };
}

const never = 60_000;

function of(partnerId: number, customerId: number | null = null) {
  return { partnerId, customerId };
}

describe('waits for events', () => {
  it('wakes the requests of the partner whose log has changed', async () => {
    const { notify, follow } = start();
    const woken: number[] = [];
    const waiting = [1, 2].map((partnerId) => ({ partnerId, wait: follow(partnerId) }));
    const ended = waiting.map(({ partnerId, wait }) => wait.next(never).then(() => woken.push(partnerId)));
    notify(2);
    await ended[1];
    expect(woken).toEqual([2]);
    notify(null);
    await Promise.all(ended);
    for (const { wait } of waiting) wait.close();
  });

  it('does not miss a change that occurs between two calls', async () => {
    const { notify, follow } = start();
    const wait = follow(1);
    notify(1);
    await wait.next(never);
    const startedAt = performance.now();
    await wait.next(20);
    expect(performance.now() - startedAt).toBeGreaterThan(10);
    wait.close();
  });

  it('subscribes to the feed once', () => {
    const { follow, subscribers } = start();
    follow(1);
    follow(2);
    expect(subscribers).toHaveLength(1);
  });

  it('limits the waiting requests of a partner until one of them is closed', () => {
    const { waits, follow } = start();
    const first = follow(1);
    follow(1);
    expect(waits.follow(of(1))).toBeNull();
    first.close();
    expect(waits.follow(of(1))).not.toBeNull();
  });

  it("lets one customer use at most half of its partner's slots", () => {
    const { waits } = start({ ofProcess: 10, ofPartner: 4 });
    const taken = [waits.follow(of(1, 7)), waits.follow(of(1, 7))];
    expect(taken).not.toContain(null);
    expect(waits.follow(of(1, 7))).toBeNull();
    expect(waits.follow(of(1, 8))).not.toBeNull();
    expect(waits.follow(of(1))).not.toBeNull();
    // The partner's limit still applies.
    expect(waits.follow(of(1))).toBeNull();
    taken[0]?.close();
    expect(waits.follow(of(1, 7))).not.toBeNull();
  });

  it('ends all waits when the process shuts down', async () => {
    const { waits, follow } = start();
    const wait = follow(1);
    const ended = wait.next(never);
    waits.end();
    await ended;
    expect(wait.isOver()).toBe(true);
    expect(waits.follow(of(1))).toBeNull();
  });
});
