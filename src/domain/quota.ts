import { Failure } from './failure.ts';

/** How much a partner can store. The quotas are settings, and `GET /v1/limits` shows them with the current usage. */
export type Quotas = {
  readonly storedRows: number;
  readonly storedBytes: number;
  readonly audiences: number;
  readonly attributes: number;
  readonly foreignKeys: number;
  readonly webhooks: number;
  readonly subscriptions: number;
  /** Recorded requests with an idempotency key. */
  readonly idempotencyKeys: number;
};

export const defaultQuotas: Quotas = {
  storedRows: 10_000_000_000,
  storedBytes: 1_000_000_000_000,
  audiences: 10_000,
  attributes: 10_000,
  foreignKeys: 100_000,
  webhooks: 10,
  subscriptions: 10,
  idempotencyKeys: 100_000,
};

export type Usage = {
  readonly used: number;
  /** Null before the first measurement and for usage that is counted on each read. */
  readonly measuredAt: Date | null;
};

export type PartnerUsage = { readonly [Name in keyof Quotas]: Usage };

/** The names in responses and messages. */
export const quotaNames = {
  storedRows: 'stored_rows',
  storedBytes: 'stored_bytes',
  audiences: 'audiences',
  attributes: 'attributes',
  foreignKeys: 'foreign_keys',
  webhooks: 'webhooks',
  subscriptions: 'subscriptions',
  idempotencyKeys: 'idempotency_keys',
} as const satisfies Readonly<Record<keyof Quotas, string>>;

const shownByteUnit = 1_000_000_000;

/**
 * The usage as a partner sees it. Bytes are rounded up to gigabytes: what is stored for a suppressed row is compressed differently,
 * so the exact number would reveal whether a device is suppressed.
 */
export function shownUsage(name: keyof Quotas, used: number): number {
  return name === 'storedBytes' ? Math.ceil(used / shownByteUnit) * shownByteUnit : used;
}

/** Throws if the addition would exceed the quota. Always allows a request that adds nothing. */
export function requireQuota(
  name: keyof Quotas,
  quotas: Quotas,
  { used, added }: { used: number; added: number },
): void {
  const limit = quotas[name];
  if (added <= 0 || used + added <= limit) return;
  const request = added > 1 ? `, and the request adds ${added}` : '';
  throw new Failure(
    'quota_exceeded',
    `The quota ${quotaNames[name]} is ${limit}. ${shownUsage(name, used)} are used${request}.`,
  );
}
