/** One caller that follows one record. Its states never go back: looks at a record come one after the other. */
export type Subscription<State> = {
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

export function startFollowing<Of, State>(topic: Topic<Of, State>, wants: Wants, hub: OfHub): Subscription<State> {
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

/** What a follower wants to be told: every change, or only that the record is final. */
export type Wants = 'changes' | 'end';

/** One record that somebody follows, as it was found by the last look at it. */
export type Topic<Of, State> = {
  readonly key: string;
  readonly of: Of;
  readonly followers: Map<object, { readonly wants: Wants; readonly wake: () => void }>;
  last: State | null;
  /** Found before `last` was read: with the same mark, `last` is still what the record is. */
  mark: string | null;
  /** The number of the look that `last` is from; 0 before the first. */
  look: number;
  /** Why the record could not be read, and in which look. */
  failed: { readonly look: number; readonly error: unknown } | null;
  /** Somebody waits for the state as it is now. */
  isAsked: boolean;
};

export function newTopic<Of, State>(key: string, of: Of): Topic<Of, State> {
  return { key, of, followers: new Map(), last: null, mark: null, look: 0, failed: null, isAsked: false };
}

export function wantsChanges({ followers }: Pick<Topic<unknown, unknown>, 'followers'>): boolean {
  return [...followers.values()].some(({ wants }) => wants === 'changes');
}

export function wakeAll({ followers }: Pick<Topic<unknown, unknown>, 'followers'>): void {
  for (const { wake } of followers.values()) wake();
}
