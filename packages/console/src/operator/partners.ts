import type { Partner, Quota } from './operator-api.ts';

const quotaTitles = {
  stored_rows: 'Stored rows',
  stored_bytes: 'Stored bytes',
  audiences: 'Audiences',
  attributes: 'Attributes',
  foreign_keys: 'Foreign keys',
  idempotency_keys: 'Idempotency keys',
} as const satisfies Readonly<Record<keyof Partner['quotas'], string>>;

type NamedQuota = Quota & { readonly name: keyof Partner['quotas']; readonly title: string; readonly share: number };

/** All quotas of a partner, the most used one first. */
export function quotasOf({ quotas }: Pick<Partner, 'quotas'>): readonly NamedQuota[] {
  const names = ['stored_rows', 'stored_bytes', 'audiences', 'attributes', 'foreign_keys', 'idempotency_keys'] as const;
  return names
    .map((name) => ({ ...quotas[name], name, title: quotaTitles[name], share: shareOf(quotas[name]) }))
    .toSorted((one, other) => other.share - one.share);
}

function shareOf({ limit, used }: Quota): number {
  if (limit === 0) return used === 0 ? 0 : 1;
  return used / limit;
}
