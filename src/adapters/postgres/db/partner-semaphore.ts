import type { PartnerId } from '../../../domain/ids.ts';
import { Failure } from '../../../domain/failure.ts';

export type PartnerSemaphore = {
  /** Waits for a permit and returns the function that releases it. */
  readonly acquire: (partnerId: PartnerId) => Promise<() => void>;
};

/** Grants each partner at most `limit` permits at a time. Further requests wait in order, up to the timeout. */
export function partnerSemaphore(limit: number, timeoutMs: number): PartnerSemaphore {
  const partners = new Map<number, { taken: number; readonly waiting: Set<() => void> }>();
  return {
    acquire: async (partnerId) => {
      const of = partners.get(partnerId) ?? { taken: 0, waiting: new Set() };
      partners.set(partnerId, of);
      if (of.taken < limit) of.taken += 1;
      else await waitForPermit(of.waiting, timeoutMs);
      return () => {
        const [next] = of.waiting;
        if (next) {
          next();
          return;
        }
        of.taken -= 1;
        if (of.taken === 0) partners.delete(partnerId);
      };
    },
  };
}

function waitForPermit(waiting: Set<() => void>, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const take = (): void => {
      clearTimeout(timer);
      waiting.delete(take);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.delete(take);
      reject(new Failure('unavailable', "Too many of this partner's requests are waiting for the database."));
    }, timeoutMs);
    waiting.add(take);
  });
}
