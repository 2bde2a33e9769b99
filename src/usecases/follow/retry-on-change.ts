import type { PartnerId } from '../../domain/ids.ts';
import type { ChangeFeed } from '../../ports/records.ts';

/**
 * Calls `attempt` until it returns a result: after each change to the partner's data, and at increasing intervals,
 * because changes can be missed. Returns null after the timeout.
 */
export type RetryOnChange = <T>(
  partnerId: PartnerId,
  attempt: () => Promise<T | null>,
  timeoutMs: number,
) => Promise<T | null>;

const firstPollMs = 50;
const maxPollMs = 500;

/** The first call of the returned function subscribes to the feed. */
export function retryOnChange(feed: Pick<ChangeFeed, 'subscribe'>): RetryOnChange {
  const waiting = new Map<PartnerId, Set<() => void>>();
  let isSubscribed = false;
  const subscribe = (): void => {
    if (isSubscribed) return;
    isSubscribed = true;
    feed.subscribe((partnerId) => {
      const woken = partnerId === null ? [...waiting.values()] : [waiting.get(partnerId) ?? []];
      for (const ofPartner of woken) for (const wake of ofPartner) wake();
    });
  };
  return async (partnerId, attempt, timeoutMs) => {
    subscribe();
    const end = performance.now() + timeoutMs;
    let hasChanged = false;
    let endPause = (): void => undefined;
    const wake = (): void => {
      hasChanged = true;
      endPause();
    };
    const ofPartner = waiting.get(partnerId) ?? new Set();
    waiting.set(partnerId, ofPartner.add(wake));
    try {
      for (let pauseMs = firstPollMs; ;) {
        hasChanged = false;
        const result = await attempt();
        if (result !== null) return result;
        if (performance.now() > end) return null;
        // The attempt may have missed a change that occurred while it ran.
        if (hasChanged) continue;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pauseMs);
          endPause = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        if (!hasChanged) pauseMs = Math.min(maxPollMs, pauseMs * 1.2);
      }
    } finally {
      ofPartner.delete(wake);
      if (ofPartner.size === 0) waiting.delete(partnerId);
    }
  };
}
