import type { Topic, Wants } from './follow-topic.ts';

/** One caller that follows one record. Its states never go back: looks at a record come one after the other. */
export type Following<State> = {
  /** The record as it is now, which many who ask at once are told by one look; null when there is none. */
  readonly fresh: () => Promise<State | null>;
  /** The newest state that is news, now or when it comes; null after so many milliseconds, or when it is over. */
  readonly next: (isNews: (state: State) => boolean, milliseconds: number) => Promise<State | null>;
  /** Nobody will be told anything more: the caller has left, or the process ends. */
  readonly isOver: () => boolean;
  readonly close: () => void;
};

type OfHub = {
  /** The number of the last look that has begun. */
  readonly lookNumber: () => number;
  readonly askFor: () => void;
  readonly isEnding: () => boolean;
  readonly leave: (follower: object) => void;
};

/** Longer than any look takes. */
const longestLookMs = 30_000;

export function startFollowing<Of, State>(topic: Topic<Of, State>, wants: Wants, hub: OfHub): Following<State> {
  const wakers = new Set<() => void>();
  const follower = {
    wants,
    wake: () => {
      for (const wake of wakers) wake();
    },
  };
  topic.followers.set(follower, follower);
  const since = hub.lookNumber();
  const state = { isClosed: false };
  const isOver = (): boolean => state.isClosed || hub.isEnding();

  const told = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        wakers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      wakers.add(wake);
    });

  return {
    fresh: async () => {
      // One that is under way may have looked before whatever the caller knows of.
      const wanted = hub.lookNumber() + 1;
      hub.askFor();
      while (topic.look < wanted && !state.isClosed) {
        if (topic.look > since && hub.isEnding()) break;
        if (topic.failed && topic.failed.look >= wanted) throw topic.failed.error;
        await told(longestLookMs);
      }
      return topic.last;
    },
    next: async (isNews, milliseconds) => {
      const until = performance.now() + milliseconds;
      for (;;) {
        if (isOver()) return null;
        if (topic.look > since && topic.last !== null && isNews(topic.last)) return topic.last;
        const left = until - performance.now();
        if (left <= 0) return null;
        await told(left);
      }
    },
    isOver,
    close: () => {
      if (state.isClosed) return;
      state.isClosed = true;
      follower.wake();
      hub.leave(follower);
    },
  };
}
