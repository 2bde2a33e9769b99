import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChangeFeed } from '../../ports/records.ts';
import { type RecordBroadcaster, followerLimit, recordBroadcaster } from './record-broadcaster.ts';
import type { Subscription } from './subscriptions.ts';

type Of = { readonly partnerId: number; readonly id: number };
type State = { readonly step: number; readonly isFinal: boolean };

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const times = { pauseMs: 5, tickMs: 20, ticksForAll: 1_000_000 };
const pollsAllSoon = { ...times, ticksForAll: 5 };

describe('a record broadcaster', () => {
  let records: Map<number, State & { readonly partnerId: number }>;
  let calls: { marks: number; reads: number };
  let isListening: boolean;
  let notify: (partnerId: number | null) => void;
  let failure: Error | null;
  let broadcaster: RecordBroadcaster<Of, State>;
  let startBroadcaster: (given: typeof times) => void;
  const open: Subscription<State>[] = [];

  const source = {
    idOf: ({ id }: Of) => id,
    ownerOf: ({ partnerId }: Of) => ({ partnerId, customerId: null }),
    keyOf: ({ partnerId, id }: Of) => `${partnerId} ${id}`,
    marksOf: async (ids: readonly number[]) => {
      calls.marks += 1;
      await pause(1);
      if (failure) throw failure;
      return ids.flatMap((id) => {
        const record = records.get(id);
        return record ? [{ id, isFinal: record.isFinal, mark: String(record.step) }] : [];
      });
    },
    read: async ({ partnerId, id }: Of) => {
      calls.reads += 1;
      const record = records.get(id);
      return Promise.resolve(record?.partnerId === partnerId ? record : null);
    },
    isMoving: () => false,
  };

  beforeEach(() => {
    records = new Map([[1, { partnerId: 1, step: 0, isFinal: false }]]);
    calls = { marks: 0, reads: 0 };
    isListening = true;
    failure = null;
    notify = () => undefined;
    const feed: ChangeFeed = {
      subscribe: (onChange) => {
        notify = onChange;
      },
      isListening: () => isListening,
    };
    startBroadcaster = (given) => {
      const slots = followerLimit({ ofProcess: 300, ofPartner: 250 });
      broadcaster = recordBroadcaster<Of, State>(source, { feed, slots, log: silent, times: given });
    };
    startBroadcaster(times);
  });
  afterEach(() => {
    for (const subscription of open.splice(0)) subscription.close();
  });

  function follow(mode: 'changes' | 'end' = 'changes', of: Of = { partnerId: 1, id: 1 }): Subscription<State> {
    const subscription = broadcaster.follow(of, mode);
    if (!subscription) throw new Error('no subscriber slot is free');
    open.push(subscription);
    return subscription;
  }
  const change = (step: number, isFinal = false): void => {
    records.set(1, { partnerId: 1, step, isFinal });
    notify(1);
  };

  it('publishes a change after a notification', async () => {
    const subscription = follow();
    expect(await subscription.fresh()).toMatchObject({ step: 0 });
    const next = subscription.next(({ step }) => step > 0, 5_000);
    change(1);
    expect(await next).toMatchObject({ step: 1 });
  });

  it('returns null after the timeout and after close', async () => {
    const subscription = follow();
    await subscription.fresh();
    expect(await subscription.next(() => false, 10)).toBeNull();
    const next = subscription.next(() => false, 60_000);
    subscription.close();
    expect(await next).toBeNull();
    expect(subscription.isOver()).toBe(true);
  });

  it('sends a slow subscriber only the newest state', async () => {
    const subscription = follow();
    await subscription.fresh();
    for (const step of [1, 2, 3]) {
      change(step);
      await follow().fresh();
    }
    expect(await subscription.next(({ step }) => step > 0, 5_000)).toMatchObject({ step: 3 });
  });

  it('detects a change without a notification at the next poll of all records', async () => {
    startBroadcaster(pollsAllSoon);
    const subscription = follow();
    await subscription.fresh();
    records.set(1, { partnerId: 1, step: 1, isFinal: false });
    expect(await subscription.next(({ step }) => step === 1, 5_000)).not.toBeNull();
  });

  it('polls on every tick while the change feed is down', async () => {
    isListening = false;
    const subscription = follow();
    await subscription.fresh();
    records.set(1, { partnerId: 1, step: 1, isFinal: false });
    expect(await subscription.next(({ step }) => step === 1, 5_000)).not.toBeNull();
  });

  it('polls once for many subscribers and reads a record once for all of them', async () => {
    const subscriptions = Array.from({ length: 200 }, () => follow());
    await Promise.all(subscriptions.map((subscription) => subscription.fresh()));
    expect(calls).toEqual({ marks: 1, reads: 1 });
    const next = subscriptions.map((subscription) => subscription.next(({ step }) => step > 0, 5_000));
    change(1);
    await Promise.all(next);
    expect(calls).toEqual({ marks: 2, reads: 2 });
  });

  it('does not read intermediate states for subscribers that wait for the final state', async () => {
    const subscription = follow('end');
    await subscription.fresh();
    const end = subscription.next(({ isFinal }) => isFinal, 5_000);
    const marks = calls.marks;
    change(1);
    while (calls.marks === marks) await pause(1);
    expect(calls.reads).toBe(1);
    change(2, true);
    expect(await end).toMatchObject({ step: 2 });
    expect(calls.reads).toBe(2);
  });

  it('never sends a new subscriber a state from before the subscription', async () => {
    const first = follow('end');
    await first.fresh();
    // No notification has been sent yet.
    records.set(1, { partnerId: 1, step: 1, isFinal: false });
    expect(await follow().fresh()).toMatchObject({ step: 1 });
  });

  it("returns null for another partner's record and for one that does not exist", async () => {
    expect(await follow('changes', { partnerId: 2, id: 1 }).fresh()).toBeNull();
    expect(await follow('changes', { partnerId: 1, id: 9 }).fresh()).toBeNull();
    expect(await follow().fresh()).toMatchObject({ step: 0 });
  });

  it('rejects new subscribers while the store is down and keeps existing subscribers waiting', async () => {
    const waiting = follow();
    await waiting.fresh();
    const next = waiting.next(({ step }) => step === 1, 5_000);
    failure = new Error('unavailable');
    notify(1);
    await expect(follow().fresh()).rejects.toThrow('unavailable');
    records.set(1, { partnerId: 1, step: 1, isFinal: false });
    failure = null;
    expect(await next).toMatchObject({ step: 1 });
  });

  it('limits subscribers per partner and per process, and reuses released slots', () => {
    const partners = [1, 2, 3];
    const taken = partners.flatMap((partnerId) =>
      Array.from({ length: 300 }, () => broadcaster.follow({ partnerId, id: 1 }, 'end')),
    );
    open.push(...taken.filter((subscription) => subscription !== null));
    expect(taken.filter((subscription) => subscription !== null)).toHaveLength(300);
    expect(taken.slice(0, 300).filter((subscription) => subscription !== null)).toHaveLength(250);
    taken[0]?.close();
    taken[0]?.close();
    expect(follow()).toBeDefined();
    expect(broadcaster.follow({ partnerId: 1, id: 1 }, 'end')).toBeNull();
  });

  it('on shutdown, ends all waits, still returns the last known state, and accepts no new subscribers', async () => {
    const subscription = follow();
    await subscription.fresh();
    const next = subscription.next(() => false, 60_000);
    broadcaster.end();
    expect(await next).toBeNull();
    expect(await subscription.fresh()).toMatchObject({ step: 0 });
    expect(broadcaster.follow({ partnerId: 1, id: 1 }, 'end')).toBeNull();
  });

  it('does not poll if there are no subscribers', async () => {
    startBroadcaster(pollsAllSoon);
    const subscription = follow();
    await subscription.fresh();
    subscription.close();
    const before = calls.marks;
    notify(1);
    notify(null);
    await pause(pollsAllSoon.tickMs * (pollsAllSoon.ticksForAll + 1));
    expect(calls.marks).toBe(before);
  });
});
