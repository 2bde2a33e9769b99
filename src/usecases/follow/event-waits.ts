import type { AudienceScope } from '../../domain/audience.ts';
import type { PartnerId } from '../../domain/ids.ts';
import type { ChangeFeed } from '../../ports/records.ts';
import type { SubscriberSlots } from './record-broadcaster.ts';

/** One request that waits for events of a partner. */
export type EventWait = {
  /** Resolves when the partner's log has changed since the last call, after the timeout, or when the wait is over. */
  readonly next: (milliseconds: number) => Promise<void>;
  /** True once the wait is closed or the process has started to shut down. */
  readonly isOver: () => boolean;
  readonly close: () => void;
};

export type EventWaits = {
  /** Null if the maximum number of waiting requests is reached. The caller must close the wait. */
  readonly follow: (owner: AudienceScope) => EventWait | null;
  /** Ends all waits. */
  readonly end: () => void;
};

/** The first wait subscribes to the feed. */
export function eventWaits(feed: Pick<ChangeFeed, 'subscribe'>, slots: SubscriberSlots): EventWaits {
  const waiting = new Map<PartnerId, Set<() => void>>();
  const state = { isEnding: false, isSubscribed: false };
  const wake = (partnerId: PartnerId | null): void => {
    const woken = partnerId === null ? [...waiting.values()] : [waiting.get(partnerId) ?? []];
    for (const ofPartner of woken) for (const notify of ofPartner) notify();
  };
  return {
    follow: (owner) => {
      const { partnerId } = owner;
      const release = state.isEnding ? null : slots.take(owner);
      if (!release) return null;
      if (!state.isSubscribed) {
        state.isSubscribed = true;
        feed.subscribe(wake);
      }
      const own = { hasChanged: false, isClosed: false, endPause: (): void => undefined };
      const notify = (): void => {
        own.hasChanged = true;
        own.endPause();
      };
      const ofPartner = waiting.get(partnerId) ?? new Set();
      waiting.set(partnerId, ofPartner.add(notify));
      const isOver = (): boolean => own.isClosed || state.isEnding;
      return {
        isOver,
        next: async (milliseconds) => {
          if (!own.hasChanged && !isOver()) {
            await new Promise<void>((resolve) => {
              const timer = setTimeout(resolve, milliseconds);
              own.endPause = () => {
                clearTimeout(timer);
                resolve();
              };
            });
          }
          own.hasChanged = false;
        },
        close: () => {
          if (own.isClosed) return;
          own.isClosed = true;
          own.endPause();
          ofPartner.delete(notify);
          if (ofPartner.size === 0) waiting.delete(partnerId);
          release();
        },
      };
    },
    end: () => {
      state.isEnding = true;
      wake(null);
    },
  };
}
