import { describe, expect, it } from 'vitest';
import { formatExactTime } from '../format.ts';
import { describeAttempt, describeNextAttempt, formatMilliseconds, healthOf } from './describe-webhook.ts';

const now = Date.parse('2026-11-18T12:00:00.000Z');
const later = '2026-11-18T12:05:00.000Z';
const earlier = '2026-11-18T11:00:00.000Z';
const inFiveDays = '2026-11-23T11:00:00.000Z';
const healthy = {
  status: 'enabled',
  failing_since: null,
  disables_at: null,
  paused_until: null,
  disabled_reason: null,
} as const;

describe('the health of a webhook', () => {
  it('is healthy without failures, even if it was paused before', () => {
    expect(healthOf({ ...healthy, paused_until: earlier }, now)).toEqual({ kind: 'done', title: 'Healthy', note: '' });
  });

  it('shows the end of the pause after a receiver has asked for fewer requests', () => {
    const { kind, title } = healthOf({ ...healthy, paused_until: later }, now);
    expect([kind, title]).toEqual(['waiting', `Paused until ${formatExactTime(later)}`]);
  });

  it('shows since when a webhook has been failing and when it will be disabled', () => {
    const failing = { ...healthy, status: 'failing', failing_since: earlier, disables_at: inFiveDays } as const;
    const { kind, title, note } = healthOf(failing, now);
    expect([kind, title]).toEqual(['failed', `Failing since ${formatExactTime(earlier)}`]);
    expect(note).toBe(`It will be disabled on ${formatExactTime(inFiveDays)} if nothing is delivered until then.`);
    expect(healthOf({ ...failing, paused_until: later }, now).note).toContain(`Paused until ${formatExactTime(later)}`);
  });

  it.each([
    ['request', '', 'Disabled by your account'],
    ['gone', 'failed', 'Disabled: the receiver responded with 410'],
    ['failures', 'failed', 'Disabled: nothing was delivered for 5 days'],
  ] as const)('says why a webhook is disabled: %s', (reason, kind, words) => {
    const disabled = { ...healthy, status: 'disabled', disabled_reason: reason } as const;
    expect(healthOf(disabled, now)).toMatchObject({ kind, title: words });
  });
});

describe('the next attempt', () => {
  it('is made now, after the pause, or when the webhook is enabled', () => {
    expect([
      describeNextAttempt(healthy, now),
      describeNextAttempt({ ...healthy, paused_until: later }, now),
      describeNextAttempt({ ...healthy, status: 'disabled' }, now),
    ]).toEqual(['now', 'after the pause', 'when the webhook is enabled']);
  });
});

describe('an attempt', () => {
  it.each([
    [204, null, 'HTTP 204'],
    [500, null, 'HTTP 500'],
    [302, null, 'HTTP 302: redirects are not followed'],
    [410, null, 'HTTP 410: the webhook was disabled'],
    [null, 'timeout', 'No response within 15 seconds'],
    [null, 'address_refused', 'The address is not public'],
    [null, 'connection_failed', 'The connection failed'],
  ] as const)('is described by its result: %s %s', (status, error, text) => {
    expect(describeAttempt({ status, error })).toBe(text);
  });

  it('shows its duration in milliseconds or seconds', () => {
    expect([formatMilliseconds(31), formatMilliseconds(15_004)]).toEqual(['31 ms', '15.0 s']);
  });
});
