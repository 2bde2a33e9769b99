import { expect, it } from 'vitest';
import { isUnmeasured, quotasOf } from './partners.ts';

it.each([
  ['stored_rows', null, true],
  ['stored_rows', '2026-11-15T01:12:18.654Z', false],
  ['audiences', null, false],
] as const)('tells whether the usage for %s, measured at %s, is still unknown', (name, measured_at, expected) => {
  expect(isUnmeasured(name, { measured_at })).toBe(expected);
});

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
