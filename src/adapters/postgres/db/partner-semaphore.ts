import type { PartnerId } from '../../../domain/ids.ts';
import { Failure } from '../../../domain/failure.ts';

export type Places = {
  /** Waits for a place; gives back how to leave it. */
  readonly enter: (partnerId: PartnerId) => Promise<() => void>;
};

/** So many places at a time for each partner. Whoever finds none waits for its turn, but not for ever. */
export function partnerSemaphore(most: number, patienceMs: number): Places {
  const partners = new Map<number, { taken: number; readonly waiting: Set<() => void> }>();
  return {
    enter: async (partnerId) => {
      const of = partners.get(partnerId) ?? { taken: 0, waiting: new Set() };
      partners.set(partnerId, of);
      if (of.taken < most) of.taken += 1;
      else await turn(of.waiting, patienceMs);
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

function turn(waiting: Set<() => void>, patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const take = (): void => {
      clearTimeout(timer);
      waiting.delete(take);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.delete(take);
      reject(new Failure('unavailable', 'Too many requests of this partner wait for the database.'));
    }, patienceMs);
    waiting.add(take);
  });
}
