import { describe, expect, it } from 'vitest';
import { describeTrigger, kindOf, stateOf, toTrigger } from './describe-subscription.ts';

const none = { quiet_seconds: null, marker: null, every_seconds: null, daily_at: null } as const;

describe('the trigger of a subscription', () => {
  it.each([
    [{ ...none, quiet_seconds: 0 }, 'immediately'],
    [{ ...none, quiet_seconds: 10 }, 'after 10 s without changes'],
    [{ ...none, marker: '_SUCCESS' }, 'when _SUCCESS is written'],
    [{ ...none, every_seconds: 3_600 }, 'every 1 h'],
    [{ ...none, daily_at: '02:30' }, 'daily at 02:30 UTC'],
  ])('is described in words: $1', (trigger, words) => {
    expect(describeTrigger(trigger)).toBe(words);
  });

  it.each([
    ['quiet_seconds', '0', { quiet_seconds: 0 }],
    ['marker', '10', { marker: '10' }],
    ['every_seconds', '60', { every_seconds: 60 }],
    ['daily_at', '02:30', { daily_at: '02:30' }],
  ] as const)('is sent in the chosen field: %s', (kind, value, trigger) => {
    expect(toTrigger(kind, value)).toEqual(trigger);
    expect(kindOf({ ...none, ...trigger })).toBe(kind);
  });
});

describe('the state of a subscription', () => {
  it('is active, paused, or what its objects are waiting for', () => {
    expect(stateOf({ status: 'active', waits_for: null })).toEqual({ kind: 'done', text: 'Active' });
    expect(stateOf({ status: 'paused', waits_for: 'marker' }).text).toBe('Paused');
    expect(stateOf({ status: 'active', waits_for: 'marker' }).text).toBe('Waiting for the marker');
    expect(stateOf({ status: 'active', waits_for: 'quota' }).kind).toBe('failed');
  });
});
