import type { PartnerId } from '../../domain/ids.ts';
import type { Log } from '../../ports/observability.ts';
import type { ChangeFeed, RecordMark } from '../../ports/records.ts';
import {
  type Subscription,
  type Topic,
  type Wants,
  newTopic,
  startFollowing,
  wakeAll,
  wantsChanges,
} from './subscriptions.ts';

export type RecordBroadcaster<Of, State> = {
  /** Null when there is no place left, or the process ends. To be closed. */
  readonly follow: (of: Of, wants: Wants) => Subscription<State> | null;
  /** Nobody waits any longer. Who is there gets what is known. */
  readonly end: () => void;
};

export type HubTimes = {
  /** Between two looks, however much is told of. */
  readonly pauseMs: number;
  /** How often what moves is looked at, and everything while no changes are heard of. */
  readonly tickMs: number;
  /** After so many of these everything is looked at: whatever was missed is seen then. */
  readonly ticksForAll: number;
};

const usualTimes: HubTimes = { pauseMs: 100, tickMs: 1_000, ticksForAll: 15 };

/**
 * Brings what happens to records to those who follow them. It looks when a change is told of, when somebody comes, and
 * once a second at what moves: one look at a time, with one statement for all that are due. Followers hold no connection.
 */
export function recordBroadcaster<Of, State>(
  source: RecordSource<Of, State>,
  { feed, places, log, times = usualTimes }: { feed: ChangeFeed; places: Places; log: Log; times?: HubTimes },
): RecordBroadcaster<Of, State> {
  const topics = new Map<string, Topic<Of, State>>();
  const due = new Set<Topic<Of, State>>();
  const state = { look: 0, isLooking: false, isPlanned: false, notBefore: 0, ticks: 0, isEnding: false, hears: false };
  let ticking: NodeJS.Timeout | null = null;

  const plan = (): void => {
    if (state.isLooking || state.isPlanned || due.size === 0) return;
    state.isPlanned = true;
    setTimeout(() => void lookOnce(), Math.max(0, state.notBefore - performance.now()));
  };
  const markDue = (isDue: (topic: Topic<Of, State>) => boolean): void => {
    for (const topic of topics.values()) if (isDue(topic)) due.add(topic);
    plan();
  };
  const lookOnce = async (): Promise<void> => {
    Object.assign(state, { isPlanned: false, isLooking: true, look: state.look + 1 });
    state.notBefore = performance.now() + times.pauseMs;
    const asked = [...due];
    due.clear();
    const failed = await pollRecords(source, asked, state.look);
    state.isLooking = false;
    if (failed.length > 0) {
      log.warn({ err: failed[0]?.failed?.error, records: failed.length }, 'records could not be looked at');
      state.notBefore = performance.now() + times.tickMs;
      for (const topic of failed) if (topics.has(topic.key)) due.add(topic);
    }
    plan();
  };
  const tick = (): void => {
    state.ticks += 1;
    const isForAll = !feed.isListening() || state.ticks % times.ticksForAll === 0;
    markDue((topic) => isForAll || (topic.last !== null && source.isMoving(topic.last) && wantsChanges(topic)));
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
    follow: (of, wants) => {
      const giveBack = state.isEnding ? null : places.take(source.partnerOf(of));
      if (!giveBack) return null;
      if (!state.hears) {
        state.hears = true;
        feed.subscribe((partnerId) =>
          markDue((topic) => partnerId === null || source.partnerOf(topic.of) === partnerId),
        );
      }
      const key = source.keyOf(of);
      const topic = topics.get(key) ?? newTopic<Of, State>(key, of);
      topics.set(key, topic);
      ticking ??= setInterval(tick, times.tickMs);
      return startFollowing(topic, wants, {
        lookNumber: () => state.look,
        askFor: () => {
          topic.isAsked = true;
          due.add(topic);
          plan();
        },
        isEnding: () => state.isEnding,
        leave: (follower) => {
          giveBack();
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

/** What the hub has to know of one kind of records. */
export type RecordSource<Of, State> = {
  readonly idOf: (of: Of) => number;
  readonly partnerOf: (of: Of) => PartnerId;
  /** Whose it is and which: two callers with the same key may see the same. */
  readonly keyOf: (of: Of) => string;
  /** Of many at once; those that do not exist are left out. */
  readonly marksOf: (ids: readonly number[]) => Promise<readonly RecordMark[]>;
  readonly read: (of: Of) => Promise<State | null>;
  /** Whether it may change without anybody telling. */
  readonly isMoving: (state: State) => boolean;
};

/** Whoever follows a record has a place until it is given back. */
export type Places = { readonly take: (partnerId: PartnerId) => (() => void) | null };

export type FollowerLimits = { readonly ofProcess: number; readonly ofPartner: number };

export function followerLimit(most: FollowerLimits): Places {
  const taken = new Map<PartnerId, number>();
  let all = 0;
  return {
    take: (partnerId) => {
      const own = taken.get(partnerId) ?? 0;
      if (all >= most.ofProcess || own >= most.ofPartner) return null;
      all += 1;
      taken.set(partnerId, own + 1);
      let isGivenBack = false;
      return () => {
        if (isGivenBack) return;
        isGivenBack = true;
        all -= 1;
        const left = (taken.get(partnerId) ?? 1) - 1;
        if (left === 0) taken.delete(partnerId);
        else taken.set(partnerId, left);
      };
    },
  };
}

/** Records that are read at a time: each of them needs a connection for a moment. */
const readsAtATime = 4;

/**
 * One look at these records: their marks in one statement, then those that are others than before and that somebody wants.
 * Who follows is told of each as soon as it is read. Gives those that could not be looked at.
 */
async function pollRecords<Of, State>(
  source: RecordSource<Of, State>,
  topics: readonly Topic<Of, State>[],
  look: number,
): Promise<Topic<Of, State>[]> {
  const failed: Topic<Of, State>[] = [];
  if (topics.length === 0) return failed;
  const asked = new Set(topics.filter(({ isAsked }) => isAsked));
  for (const topic of asked) topic.isAsked = false;
  const fail = (topic: Topic<Of, State>, error: unknown): void => {
    failed.push(topic);
    topic.failed = { look, error };
    wakeAll(topic);
  };
  try {
    const ids = [...new Set(topics.map(({ of }) => source.idOf(of)))];
    const marks = new Map((await source.marksOf(ids)).map((mark) => [mark.id, mark]));
    const reads = topics.values().map(async (topic) => {
      const mark = marks.get(source.idOf(topic.of));
      const isWanted = asked.has(topic) || wantsChanges(topic) || mark?.isFinal === true;
      if (topic.look > 0 && mark?.mark === topic.mark) tell(topic, topic.last, look);
      else if (isWanted) {
        try {
          // Also where there is none: else the time of an answer would tell a record of another from none at all.
          const state = await source.read(topic.of);
          topic.mark = mark?.mark ?? null;
          tell(topic, state, look);
        } catch (error) {
          fail(topic, error);
        }
      }
    });
    // An iterator that is shared: each of them takes the next.
    await Promise.all(
      Array.from({ length: readsAtATime }, async () => {
        for (const read of reads) await read;
      }),
    );
  } catch (error) {
    for (const topic of topics) fail(topic, error);
  }
  return failed;
}

function tell<Of, State>(topic: Topic<Of, State>, state: State | null, look: number): void {
  topic.last = state;
  topic.look = look;
  wakeAll(topic);
}
