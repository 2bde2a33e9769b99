import type { Composition } from '@inlet/sdk/browser';

/** The reader's choices. They are in the address, so that a view can be shared. */
export type View = {
  readonly split: Exclude<Composition['split'], null> | null;
  readonly order: Order;
  readonly country: string | null;
  /** The audience to compare with. */
  readonly audienceId: number | null;
  readonly showsSmall: boolean;
};

const orders = ['index', 'lowest_index', 'devices'] as const;
export type Order = (typeof orders)[number];

const splits = ['country', 'id_type', 'event'] as const;

export function readView(query: Readonly<Record<string, string>>): View {
  const split = splits.find((name) => name === query['split']) ?? null;
  const country = query['country'] ?? '';
  const audience = query['audience'] ?? '';
  return withSplit(
    {
      split: null,
      order: orders.find((name) => name === query['order']) ?? 'index',
      country: /^[A-Z]{2}$/.test(country) ? country : null,
      audienceId: /^[1-9]\d{0,14}$/.test(audience) ? Number(audience) : null,
      showsSmall: query['small'] === 'include',
    },
    split,
  );
}

/** A report that is split by country or ID type cannot be compared with a country. */
export function withSplit(view: View, split: View['split']): View {
  return { ...view, split, country: allowsCountry(split) ? view.country : null };
}

export function allowsCountry(split: View['split']): boolean {
  return split === null || split === 'event';
}

/** The query of the page's address. Defaults are omitted. */
export function viewQuery({ split, order, country, audienceId, showsSmall }: View): string {
  const query = new URLSearchParams({
    ...(split && { split }),
    ...(order !== 'index' && { order }),
    ...(country !== null && { country }),
    ...(audienceId !== null && { audience: String(audienceId) }),
    ...(showsSmall && { small: 'include' }),
  }).toString();
  return query === '' ? '' : `?${query}`;
}
