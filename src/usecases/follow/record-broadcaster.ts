import type { AudienceScope } from '../../domain/audience.ts';
import { customerShare } from '../../domain/customer-share.ts';
import type { Log } from '../../ports/observability.ts';
import type { ChangeFeed, RecordMark } from '../../ports/records.ts';
import {
  type Subscription,
  type Topic,
  type SubscriptionMode,
  newTopic,
  subscribe,
  wakeAll,
  wantsChanges,
} from './subscriptions.ts';

export type RecordBroadcaster<Of, State> = {
  /**
   * Null if the maximum number of subscribers is reached or the process is shutting down. The caller must close the
   * subscription.
   */
  readonly follow: (of: Of, mode: SubscriptionMode) => Subscription<State> | null;
  /** Ends all waits. Subscribers get the last known state. */
  readonly end: () => void;
};

export type PollTimes = {
  /** Minimum time between two polls. */
  readonly pauseMs: number;
  /** How often records in progress are polled. While the change feed is down, this applies to all records. */
  readonly tickMs: number;
  /** Number of ticks between polls of all records, which catch missed notifications. */
  readonly ticksForAll: number;
};

const defaultTimes: PollTimes = { pauseMs: 100, tickMs: 1_000, ticksForAll: 15 };

/**
 * Broadcasts record changes to subscribers. It polls after a notification, for a new subscriber, and once a second for
 * records in progress. Only one poll runs at a time, and it uses one statement for all due records. Subscribers occupy
 * no database connection.
 */
export function recordBroadcaster<Of, State>(
  source: RecordSource<Of, State>,
  { feed, slots, log, times = defaultTimes }: { feed: ChangeFeed; slots: SubscriberSlots; log: Log; times?: PollTimes },
): RecordBroadcaster<Of, State> {
  const topics = new Map<string, Topic<Of, State>>();
  const due = new Set<Topic<Of, State>>();
  const state = { poll: 0, isPolling: false, isPlanned: false, notBefore: 0, ticks: 0, isEnding: false, hears: false };
  let ticking: NodeJS.Timeout | null = null;

  const plan = (): void => {
    if (state.isPolling || state.isPlanned || due.size === 0) return;
    state.isPlanned = true;
    setTimeout(() => void poll(), Math.max(0, state.notBefore - performance.now()));
  };
  const markDue = (isDue: (topic: Topic<Of, State>) => boolean): void => {
    for (const topic of topics.values()) if (isDue(topic)) due.add(topic);
    plan();
  };
  const poll = async (): Promise<void> => {
    Object.assign(state, { isPlanned: false, isPolling: true, poll: state.poll + 1 });
    state.notBefore = performance.now() + times.pauseMs;
    const requested = [...due];
    due.clear();
    const failed = await pollRecords(source, requested, state.poll);
    state.isPolling = false;
    if (failed.length > 0) {
      log.warn({ err: failed[0]?.failed?.error, records: failed.length }, 'cannot poll records');
      state.notBefore = performance.now() + times.tickMs;
      for (const topic of failed) if (topics.has(topic.key)) due.add(topic);
    }
    plan();
  };
  const tick = (): void => {
    state.ticks += 1;
    const isForAll = !feed.isListening() || state.ticks % times.ticksForAll === 0;
    markDue(
      (topic) => isForAll || (topic.last !== null && source.isMoving(topic.last, topic.of) && wantsChanges(topic)),
    );
  };
  const leave = (topic: Topic<Of, State>, follower: object): void => {
    topic.followers.delete(follower);
    if (topic.followers.size > 0) return;
    topics.delete(topic.key);
    due.delete(topic);
    if (topics.size > 0 || !ticking) return;
    clearInterval(ticking);
    ticking = null;
  };

  return {
    follow: (of, mode) => {
      const release = state.isEnding ? null : slots.take(source.ownerOf(of));
      if (!release) return null;
      if (!state.hears) {
        state.hears = true;
        feed.subscribe((partnerId) =>
          markDue((topic) => partnerId === null || source.ownerOf(topic.of).partnerId === partnerId),
        );
      }
      const key = source.keyOf(of);
      const topic = topics.get(key) ?? newTopic<Of, State>(key, of);
      topics.set(key, topic);
      ticking ??= setInterval(tick, times.tickMs);
      return subscribe(topic, mode, {
        pollNumber: () => state.poll,
        requestPoll: () => {
          topic.isRequested = true;
          due.add(topic);
          plan();
        },
        isEnding: () => state.isEnding,
        leave: (follower) => {
          release();
          leave(topic, follower);
        },
      });
    },
    end: () => {
      state.isEnding = true;
      for (const topic of topics.values()) wakeAll(topic);
    },
  };
}

/** Reads one kind of record. */
export type RecordSource<Of, State> = {
  readonly idOf: (of: Of) => number;
  readonly ownerOf: (of: Of) => AudienceScope;
  /** Returns a key that consists of the owner and the ID. Subscribers with the same key share a topic. */
  readonly keyOf: (of: Of) => string;
  /** Omits records that do not exist. */
  readonly marksOf: (ids: readonly number[]) => Promise<readonly RecordMark[]>;
  readonly read: (of: Of) => Promise<State | null>;
  /** Whether the record can change without a notification. */
  readonly isMoving: (state: State, of: Of) => boolean;
};

/** Limits the number of subscribers. `take` returns a function that releases the slot, or null if no slot is free. */
export type SubscriberSlots = { readonly take: (owner: AudienceScope) => (() => void) | null };

export type FollowerLimits = { readonly ofProcess: number; readonly ofPartner: number };

/** A customer can take only its share of its partner's slots. */
export function followerLimit(limits: FollowerLimits): SubscriberSlots {
  const taken = new Map<string, number>();
  let all = 0;
  const add = (key: string, change: 1 | -1): void => {
    const left = (taken.get(key) ?? 0) + change;
    if (left === 0) taken.delete(key);
    else taken.set(key, left);
  };
  return {
    take: ({ partnerId, customerId }) => {
      const share = customerShare({ customerId }, limits.ofPartner);
      const ofPartner = String(partnerId);
      const keys = share ? [ofPartner, `${partnerId} ${share.customerId}`] : [ofPartner];
      const [everyone = 0, own = 0] = keys.map((key) => taken.get(key) ?? 0);
      if (all >= limits.ofProcess || everyone >= limits.ofPartner || (share && own >= share.most)) return null;
      all += 1;
      for (const key of keys) add(key, 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        all -= 1;
        for (const key of keys) add(key, -1);
      };
    },
  };
}

/** Maximum number of concurrent reads. Each read occupies a database connection. */
const concurrentReads = 4;

/**
 * Polls these records. First reads all marks in one statement, and then each record whose mark has changed, if a
 * subscriber is waiting for it. Notifies subscribers as soon as a record is read. Returns the records that could not be
 * polled.
 */
async function pollRecords<Of, State>(
  source: RecordSource<Of, State>,
  topics: readonly Topic<Of, State>[],
  poll: number,
): Promise<Topic<Of, State>[]> {
  const failed: Topic<Of, State>[] = [];
  if (topics.length === 0) return failed;
  const requested = new Set(topics.filter(({ isRequested }) => isRequested));
  for (const topic of requested) topic.isRequested = false;
  const fail = (topic: Topic<Of, State>, error: unknown): void => {
    failed.push(topic);
    topic.failed = { poll, error };
    wakeAll(topic);
  };
  try {
    const ids = [...new Set(topics.map(({ of }) => source.idOf(of)))];
    const marks = new Map((await source.marksOf(ids)).map((mark) => [mark.id, mark]));
    const reads = topics.values().map(async (topic) => {
      const mark = marks.get(source.idOf(topic.of));
      // A record without a mark was deleted, so no subscriber needs to wait any longer.
      const isWanted = requested.has(topic) || wantsChanges(topic) || (mark?.isFinal ?? true);
      if (topic.poll > 0 && mark?.mark === topic.mark) publish(topic, topic.last, poll);
      else if (isWanted) {
        try {
          // Read the record even if it has no mark. Otherwise, the response time would reveal whether another partner
          // has this record.
          const state = await source.read(topic.of);
          topic.mark = mark?.mark ?? null;
          publish(topic, state, poll);
        } catch (error) {
          fail(topic, error);
        }
      }
    });
    // The readers share one iterator, and each reader takes the next record.
    await Promise.all(
      Array.from({ length: concurrentReads }, async () => {
        for (const read of reads) await read;
      }),
    );
  } catch (error) {
    for (const topic of topics) fail(topic, error);
  }
  return failed;
}

function publish<Of, State>(topic: Topic<Of, State>, state: State | null, poll: number): void {
  topic.last = state;
  topic.poll = poll;
  wakeAll(topic);
}
