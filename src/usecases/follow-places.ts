import type { PartnerId } from '../domain/partner.ts';

/** Whoever follows a record has a place until it is given back. */
export type Places = { readonly take: (partnerId: PartnerId) => (() => void) | null };

export type MostFollowers = { readonly ofProcess: number; readonly ofPartner: number };

export function placesFor(most: MostFollowers): Places {
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
