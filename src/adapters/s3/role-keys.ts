import type { PartnerRole, SessionKeys } from './assume-role.ts';

/** A file that is begun with the keys is to be read to its end with them. */
const marginMs = 15 * 60_000;
const mostKept = 1_000;

/** Keys of assumed roles, in memory only, until shortly before they end. Of those who ask at once only one assumes. */
export function roleKeys(
  assume: (role: PartnerRole) => Promise<SessionKeys>,
  now: () => number = Date.now,
): (role: PartnerRole) => Promise<SessionKeys> {
  const kept = new Map<string, { readonly keys: Promise<SessionKeys>; goodUntil: number }>();
  return async (role) => {
    const name = JSON.stringify([role.partnerId, role.externalId, role.region, role.roleArn]);
    const known = kept.get(name);
    if (known && known.goodUntil > now()) return known.keys;
    const asked = { keys: assume(role), goodUntil: Infinity };
    kept.delete(name);
    kept.set(name, asked);
    if (kept.size > mostKept) kept.delete(kept.keys().next().value ?? '');
    try {
      const keys = await asked.keys;
      asked.goodUntil = keys.expiresAt.getTime() - marginMs;
      return keys;
    } catch (error) {
      if (kept.get(name) === asked) kept.delete(name);
      throw error;
    }
  };
}
