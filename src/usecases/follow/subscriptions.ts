/**
 * One subscription to one record. A subscriber never gets an older state after a newer one, because polls do not
 * overlap.
 */
export type Subscription<State> = {
  /** Returns the current record. Null if it does not exist. Concurrent calls share one poll. */
  readonly fresh: () => Promise<State | null>;
  /**
   * Waits for a state that `isNews` accepts. Returns null after the timeout, or when the subscription has ended or the
   * record is gone.
   */
  readonly next: (isNews: (state: State) => boolean, milliseconds: number) => Promise<State | null>;
  /** True once the subscriber has unsubscribed or the process has started to shut down. */
  readonly isOver: () => boolean;
  /** Whether the record did not exist at the last poll. */
  readonly isGone: () => boolean;
  readonly close: () => void;
};

type Broadcaster = {
  /** Number of the poll that started last. */
  readonly pollNumber: () => number;
  readonly requestPoll: () => void;
  readonly isEnding: () => boolean;
  readonly leave: (follower: object) => void;
};

/** Longer than any poll. */
const maxPollMs = 30_000;

export function subscribe<Of, State>(
  topic: Topic<Of, State>,
  mode: SubscriptionMode,
  broadcaster: Broadcaster,
): Subscription<State> {
  const wakers = new Set<() => void>();
  const follower = {
    mode,
    wake: () => {
      for (const wake of wakers) wake();
    },
  };
  topic.followers.set(follower, follower);
  const since = broadcaster.pollNumber();
  const state = { isClosed: false };
  const isOver = (): boolean => state.isClosed || broadcaster.isEnding();

  const isGone = (): boolean => topic.poll > since && topic.last === null;

  const woken = (milliseconds: number): Promise<void> =>
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
      // A poll in progress may have read a state that is older than the one the caller has seen.
      const wanted = broadcaster.pollNumber() + 1;
      broadcaster.requestPoll();
      while (topic.poll < wanted && !state.isClosed) {
        if (topic.poll > since && broadcaster.isEnding()) break;
        if (topic.failed && topic.failed.poll >= wanted) throw topic.failed.error;
        await woken(maxPollMs);
      }
      return topic.last;
    },
    next: async (isNews, milliseconds) => {
      const until = performance.now() + milliseconds;
      for (;;) {
        if (isOver() || isGone()) return null;
        if (topic.poll > since && topic.last !== null && isNews(topic.last)) return topic.last;
        const left = until - performance.now();
        if (left <= 0) return null;
        await woken(left);
      }
    },
    isOver,
    isGone,
    close: () => {
      if (state.isClosed) return;
      state.isClosed = true;
      follower.wake();
      broadcaster.leave(follower);
    },
  };
}

/** Whether a subscriber wants every change or only the final state. */
export type SubscriptionMode = 'changes' | 'end';

/** One record with subscribers, as of the last poll. */
export type Topic<Of, State> = {
  readonly key: string;
  readonly of: Of;
  readonly followers: Map<object, { readonly mode: SubscriptionMode; readonly wake: () => void }>;
  last: State | null;
  /** Read before `last`, so that `last` is current as long as the mark stays the same. */
  mark: string | null;
  /** Number of the poll that read `last`; 0 before the first. */
  poll: number;
  /** The error of the last failed read, and the number of its poll. */
  failed: { readonly poll: number; readonly error: unknown } | null;
  /** Whether a subscriber is waiting for the current state. */
  isRequested: boolean;
};

export function newTopic<Of, State>(key: string, of: Of): Topic<Of, State> {
  return { key, of, followers: new Map(), last: null, mark: null, poll: 0, failed: null, isRequested: false };
}

export function wantsChanges({ followers }: Pick<Topic<unknown, unknown>, 'followers'>): boolean {
  return [...followers.values()].some(({ mode }) => mode === 'changes');
}

export function wakeAll({ followers }: Pick<Topic<unknown, unknown>, 'followers'>): void {
  for (const { wake } of followers.values()) wake();
}
