import { expect, it } from 'vitest';
import { quotasOf } from './partners.ts';

it('lists the most used quota of a partner first', () => {
  const quota = (used: number, limit = 100) => ({ used, limit, measured_at: null });
  const quotas = {
    stored_rows: quota(10),
    stored_bytes: quota(20),
    audiences: quota(95),
    attributes: quota(0, 0),
    foreign_keys: quota(1, 0),
    webhooks: quota(0),
    subscriptions: quota(0),
    idempotency_keys: quota(0),
  };
  const sorted = quotasOf({ quotas });
  expect(sorted.map(({ name }) => name).slice(0, 4)).toEqual([
    'foreign_keys',
    'audiences',
    'stored_bytes',
    'stored_rows',
  ]);
  expect(sorted[1]).toMatchObject({ title: 'Audiences', share: 0.95 });
});
