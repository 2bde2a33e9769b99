import { type QuotaName, quotas, quotaTitles } from '../components/quotas.ts';
import type { Partner, Quota } from './operator-api.ts';

type NamedQuota = Quota & { readonly name: QuotaName; readonly title: string; readonly share: number };

/** All quotas of a partner, the most used one first. */
export function quotasOf(partner: Pick<Partner, 'quotas'>): readonly NamedQuota[] {
  return quotas
    .map((name) => ({ ...partner.quotas[name], name, title: quotaTitles[name], share: shareOf(partner.quotas[name]) }))
    .toSorted((one, other) => other.share - one.share);
}

/** Workers measure these quotas. The others are counted with every request. */
const measured: ReadonlySet<QuotaName> = new Set(['stored_rows', 'stored_bytes', 'idempotency_keys']);

/** Whether the number is only a placeholder, because nothing has been measured yet. */
export function isUnmeasured(name: QuotaName, { measured_at }: Pick<Quota, 'measured_at'>): boolean {
  return measured.has(name) && measured_at === null;
}

function shareOf({ limit, used }: Quota): number {
  if (limit === 0) return used === 0 ? 0 : 1;
  return used / limit;
}
