/** The quotas of a partner, in the order in which the limits page lists them. */
export const quotas = [
  'stored_rows',
  'stored_bytes',
  'audiences',
  'attributes',
  'foreign_keys',
  'webhooks',
  'subscriptions',
  'idempotency_keys',
] as const;

export type QuotaName = (typeof quotas)[number];

export const quotaTitles: Readonly<Record<QuotaName, string>> = {
  stored_rows: 'Stored rows',
  stored_bytes: 'Stored bytes',
  audiences: 'Audiences',
  attributes: 'Attributes',
  foreign_keys: 'Foreign keys',
  webhooks: 'Webhooks',
  subscriptions: 'Subscriptions',
  idempotency_keys: 'Idempotency keys',
};
