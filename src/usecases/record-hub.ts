import type { ChangeFeed } from '../ports/change-feed.ts';
import type { Log } from '../ports/log.ts';
import { startFollowing, type Following } from './following.ts';
import { lookAt } from './look-at-records.ts';
import type { Places } from './follow-places.ts';
import type { RecordSource } from './record-source.ts';
import { newTopic, wakeAll, wantsChanges, type Topic, type Wants } from './follow-topic.ts';

export type RecordHub<Of, State> = {
  /** Null when there is no place left, or the process ends. To be closed. */
  readonly follow: (of: Of, wants: Wants) => Following<State> | null;
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
export function recordHub<Of, State>(
  source: RecordSource<Of, State>,
  { feed, places, log, times = usualTimes }: { feed: ChangeFeed; places: Places; log: Log; times?: HubTimes },
): RecordHub<Of, State> {
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
    const failed = await lookAt(source, asked, state.look);
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
    const isForAll = !feed.isHearing() || state.ticks % times.ticksForAll === 0;
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
