import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChangeFeed } from '../../ports/records.ts';
import { type RecordBroadcaster, followerLimit, recordBroadcaster } from './record-broadcaster.ts';
import type { Subscription } from './subscriptions.ts';

type Of = { readonly partnerId: number; readonly id: number };
type State = { readonly step: number; readonly isFinal: boolean };

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const times = { pauseMs: 5, tickMs: 20, ticksForAll: 1_000_000 };
const looksAtAllSoon = { ...times, ticksForAll: 5 };

describe('the hub of followed records', () => {
  let records: Map<number, State & { readonly partnerId: number }>;
  let calls: { marks: number; reads: number };
  let isListening: boolean;
  let tell: (partnerId: number | null) => void;
  let failure: Error | null;
  let hub: RecordBroadcaster<Of, State>;
  let startHub: (given: typeof times) => void;
  const open: Subscription<State>[] = [];

  const source = {
    idOf: ({ id }: Of) => id,
    partnerOf: ({ partnerId }: Of) => partnerId,
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
    tell = () => undefined;
    const feed: ChangeFeed = {
      subscribe: (onChange) => {
        tell = onChange;
      },
      isListening: () => isListening,
    };
    startHub = (given) => {
      const slots = followerLimit({ ofProcess: 300, ofPartner: 250 });
      hub = recordBroadcaster<Of, State>(source, { feed, slots, log: silent, times: given });
    };
    startHub(times);
  });
  afterEach(() => {
    for (const following of open.splice(0)) following.close();
  });

  function follow(wants: 'changes' | 'end' = 'changes', of: Of = { partnerId: 1, id: 1 }): Subscription<State> {
    const following = hub.follow(of, wants);
    if (!following) throw new Error('there is no place');
    open.push(following);
    return following;
  }
  const change = (step: number, isFinal = false): void => {
    records.set(1, { partnerId: 1, step, isFinal });
    tell(1);
  };

  it('tells of a change that it is told of', async () => {
    const following = follow();
    expect(await following.fresh()).toMatchObject({ step: 0 });
    const next = following.next(({ step }) => step > 0, 5_000);
    change(1);
    expect(await next).toMatchObject({ step: 1 });
  });

  it('answers null when the time is over, and when it is closed', async () => {
    const following = follow();
    await following.fresh();
    expect(await following.next(() => false, 10)).toBeNull();
    const next = following.next(() => false, 60_000);
    following.close();
    expect(await next).toBeNull();
    expect(following.isOver()).toBe(true);
  });

  it('tells a slow follower of the newest state only', async () => {
    const following = follow();
    await following.fresh();
    for (const step of [1, 2, 3]) {
      change(step);
      await follow().fresh();
    }
    expect(await following.next(({ step }) => step > 0, 5_000)).toMatchObject({ step: 3 });
  });

  it('sees what nobody told of, with the next look at all', async () => {
    startHub(looksAtAllSoon);
    const following = follow();
    await following.fresh();
    records.set(1, { partnerId: 1, step: 1, isFinal: false });
    expect(await following.next(({ step }) => step === 1, 5_000)).not.toBeNull();
  });

  it('looks at each tick while it does not hear', async () => {
    isListening = false;
    const following = follow();
    await following.fresh();
    records.set(1, { partnerId: 1, step: 1, isFinal: false });
    expect(await following.next(({ step }) => step === 1, 5_000)).not.toBeNull();
  });

  it('looks once for many, and reads a record once for all who follow it', async () => {
    const followings = Array.from({ length: 200 }, () => follow());
    await Promise.all(followings.map((following) => following.fresh()));
    expect(calls).toEqual({ marks: 1, reads: 1 });
    const next = followings.map((following) => following.next(({ step }) => step > 0, 5_000));
    change(1);
    await Promise.all(next);
    expect(calls).toEqual({ marks: 2, reads: 2 });
  });

  it('does not read what has changed for those who wait for the end only', async () => {
    const following = follow('end');
    await following.fresh();
    const end = following.next(({ isFinal }) => isFinal, 5_000);
    const marks = calls.marks;
    change(1);
    while (calls.marks === marks) await pause(1);
    expect(calls.reads).toBe(1);
    change(2, true);
    expect(await end).toMatchObject({ step: 2 });
    expect(calls.reads).toBe(2);
  });

  it('gives nobody the state from before he came', async () => {
    const first = follow('end');
    await first.fresh();
    // Nobody has told yet.
    records.set(1, { partnerId: 1, step: 1, isFinal: false });
    expect(await follow().fresh()).toMatchObject({ step: 1 });
  });

  it("has nothing of another partner's, and nothing of what there is not", async () => {
    expect(await follow('changes', { partnerId: 2, id: 1 }).fresh()).toBeNull();
    expect(await follow('changes', { partnerId: 1, id: 9 }).fresh()).toBeNull();
    expect(await follow().fresh()).toMatchObject({ step: 0 });
  });

  it('fails for whoever comes while the store is away; who waits goes on waiting', async () => {
    const waiting = follow();
    await waiting.fresh();
    const next = waiting.next(({ step }) => step === 1, 5_000);
    failure = new Error('away');
    tell(1);
    await expect(follow().fresh()).rejects.toThrow('away');
    records.set(1, { partnerId: 1, step: 1, isFinal: false });
    failure = null;
    expect(await next).toMatchObject({ step: 1 });
  });

  it('has a bound for each partner and for all, and places that are given back', () => {
    const partners = [1, 2, 3];
    const taken = partners.flatMap((partnerId) =>
      Array.from({ length: 300 }, () => hub.follow({ partnerId, id: 1 }, 'end')),
    );
    open.push(...taken.filter((following) => following !== null));
    expect(taken.filter((following) => following !== null)).toHaveLength(300);
    expect(taken.slice(0, 300).filter((following) => following !== null)).toHaveLength(250);
    taken[0]?.close();
    taken[0]?.close();
    expect(follow()).toBeDefined();
    expect(hub.follow({ partnerId: 1, id: 1 }, 'end')).toBeNull();
  });

  it('lets everybody go when it ends, with what is known, and takes nobody any more', async () => {
    const following = follow();
    await following.fresh();
    const next = following.next(() => false, 60_000);
    hub.end();
    expect(await next).toBeNull();
    expect(await following.fresh()).toMatchObject({ step: 0 });
    expect(hub.follow({ partnerId: 1, id: 1 }, 'end')).toBeNull();
  });

  it('does nothing while nobody follows', async () => {
    startHub(looksAtAllSoon);
    const following = follow();
    await following.fresh();
    following.close();
    const before = calls.marks;
    tell(1);
    tell(null);
    await pause(looksAtAllSoon.tickMs * (looksAtAllSoon.ticksForAll + 1));
    expect(calls.marks).toBe(before);
  });
});
