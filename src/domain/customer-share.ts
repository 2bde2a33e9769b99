import type { AudienceScope } from './audience.ts';

// Some of a partner's limits restrict how much can be open at the same time. One customer must not use up such a limit,
// because the partner and its other customers would then have to wait.

/** The part of a limit that one customer can use. */
export type CustomerShare = { readonly customerId: number; readonly most: number };

/** Half of the partner's limit. Null for the partner itself, which can use the whole limit. */
export function customerShare({ customerId }: Pick<AudienceScope, 'customerId'>, limit: number): CustomerShare | null {
  return customerId === null ? null : { customerId, most: Math.max(1, Math.floor(limit / 2)) };
}

/** The limit that applies to this caller. */
export function limitFor(scope: Pick<AudienceScope, 'customerId'>, limit: number): number {
  return customerShare(scope, limit)?.most ?? limit;
}
