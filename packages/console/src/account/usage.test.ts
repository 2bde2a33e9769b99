import { describe, expect, it } from 'vitest';
import { quotasOf, stateOf } from './usage.ts';

describe('stateOf', () => {
  it.each([
    [0, 100, 'fine'],
    [89, 100, 'fine'],
    [90, 100, 'near'],
    [100, 100, 'full'],
    [120, 100, 'full'],
    [500, 0, 'fine'],
    [null, 100, 'fine'],
  ] as const)('%i of %i is %s', (used, limit, state) => expect(stateOf({ used, limit })).toBe(state));
});

describe('quotasOf', () => {
  it('distinguishes measured usage from counted usage', () => {
    const measured = { limit: 10, used: 1, measured_at: null };
    const counted = { limit: 10, used: 1 };
    const usages = quotasOf({
      stored_rows: { ...measured, measured_at: '2026-11-18T10:00:00Z' },
      stored_bytes: measured,
      audiences: counted,
      attributes: counted,
      foreign_keys: counted,
      webhooks: counted,
      subscriptions: counted,
      idempotency_keys: measured,
    });
    expect(usages.map(({ name, isBytes, used, measuredAt }) => [name, isBytes, used, measuredAt])).toEqual([
      ['Stored rows', false, 1, '2026-11-18T10:00:00Z'],
      ['Stored bytes', true, null, null],
      ['Audiences', false, 1, undefined],
      ['Attributes', false, 1, undefined],
      ['Foreign keys', false, 1, undefined],
      ['Webhooks', false, 1, undefined],
      ['Subscriptions', false, 1, undefined],
      ['Idempotency keys', false, null, null],
    ]);
  });
});
