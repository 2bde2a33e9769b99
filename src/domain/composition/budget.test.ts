import { describe, expect, it } from 'vitest';
import { isExpired, nextRenewal, nextReportAt } from './budget.ts';

const limits = { perPartnerAndDay: 10, perCustomer: 5 };
const now = new Date('2026-11-18T10:30:00Z');
const daysAgo = (days: number, draws = 1) => ({ draws, at: new Date(now.getTime() - days * 86_400_000) });

describe('the privacy budget', () => {
  it('allows reports until a limit is reached', () => {
    const spent = { ofCustomer: [daysAgo(3, 4)], ofPartnerToday: 9 };
    expect(nextReportAt(spent, 1, limits, now)).toBeNull();
  });

  it("returns the time when enough of the customer's draws are 30 days old", () => {
    const spent = { ofCustomer: [daysAgo(29), daysAgo(20, 3), daysAgo(1)], ofPartnerToday: 1 };
    expect(nextReportAt(spent, 1, limits, now)).toEqual(new Date('2026-11-19T10:30:00Z'));
    expect(nextReportAt(spent, 2, limits, now)).toEqual(new Date('2026-11-28T10:30:00Z'));
  });

  it('renews when the oldest draw is 30 days old', () => {
    expect(nextRenewal([daysAgo(29), daysAgo(1)])).toEqual(new Date('2026-11-19T10:30:00Z'));
    expect(nextRenewal([])).toBeNull();
  });

  it('returns midnight UTC when the partner has reached its daily limit', () => {
    const spent = { ofCustomer: [], ofPartnerToday: 10 };
    expect(nextReportAt(spent, 1, limits, now)).toEqual(new Date('2026-11-19T00:00:00Z'));
  });

  it('returns the later time when both limits are reached', () => {
    const spent = { ofCustomer: [daysAgo(10, 5)], ofPartnerToday: 10 };
    expect(nextReportAt(spent, 1, limits, now)).toEqual(new Date('2026-12-08T10:30:00Z'));
  });

  it('returns "never" if a report needs more draws than a limit allows', () => {
    expect(nextReportAt({ ofCustomer: [], ofPartnerToday: 0 }, 6, limits, now)).toBe('never');
  });

  it('allows every report if both limits are disabled', () => {
    const spent = { ofCustomer: [daysAgo(1, 1_000)], ofPartnerToday: 1_000 };
    expect(nextReportAt(spent, 16, { perPartnerAndDay: 0, perCustomer: 0 }, now)).toBeNull();
  });
});

describe('a stored report', () => {
  it('expires after seven days', () => {
    expect(isExpired(daysAgo(6.9).at, now)).toBe(false);
    expect(isExpired(daysAgo(7.1).at, now)).toBe(true);
  });
});
