import { describe, expect, it } from 'vitest';
import {
  type Arrivals,
  type Trigger,
  decideImport,
  isMarker,
  maxOpenImports,
  maxQuietPeriods,
  minuteOfDay,
  nextImportAfter,
  secondsToListing,
  timeOfMinute,
} from './subscription.ts';

const quiet: Trigger = { on: 'quiet', seconds: 10 };
const marker: Trigger = { on: 'marker', name: '_SUCCESS' };
const daily: Trigger = { on: 'daily', minute: 150 };
const arrivals: Arrivals = {
  waiting: 3,
  marked: 3,
  hasNewMarker: false,
  openImports: 0,
  quietSeconds: 0,
  oldestSeconds: 0,
  isScheduled: false,
};

describe('the trigger of a subscription', () => {
  it.each<[string, Trigger, Partial<Arrivals>, ReturnType<typeof decideImport>]>([
    ['nothing has arrived', quiet, { waiting: 0, quietSeconds: 99 }, { imports: 'none', waitsFor: null }],
    ['the prefix has changed', quiet, { quietSeconds: 9.9 }, { imports: 'none', waitsFor: 'quiet' }],
    ['the prefix is quiet', quiet, { quietSeconds: 10 }, { imports: 'all', waitsFor: null }],
    ['the prefix is never quiet', quiet, { oldestSeconds: 10 * maxQuietPeriods }, { imports: 'all', waitsFor: null }],
    ['no quiet time is needed', { on: 'quiet', seconds: 0 }, { quietSeconds: -1 }, { imports: 'all', waitsFor: null }],
    ['no folder has a marker', marker, { marked: 0 }, { imports: 'none', waitsFor: 'marker' }],
    ['one folder has a marker', marker, { marked: 1 }, { imports: 'marked', waitsFor: 'marker' }],
    ['every folder has a marker', marker, {}, { imports: 'marked', waitsFor: null }],
    ['the time has not come', daily, { quietSeconds: 999 }, { imports: 'none', waitsFor: 'schedule' }],
    ['the time has come', daily, { isScheduled: true }, { imports: 'all', waitsFor: null }],
    [
      'the lane is full',
      daily,
      { isScheduled: true, openImports: maxOpenImports },
      { imports: 'none', waitsFor: 'open_imports' },
    ],
    [
      'the lane is full and the trigger is not met either',
      quiet,
      { openImports: maxOpenImports },
      { imports: 'none', waitsFor: 'quiet' },
    ],
  ])('decides what is imported if %s', (_name, trigger, changed, expected) => {
    expect(decideImport(trigger, { ...arrivals, ...changed })).toEqual(expected);
  });

  it('lists sooner if an import may be due soon', () => {
    const after = { waitsFor: null, hasMore: false };
    expect(secondsToListing(quiet, after, 30)).toBe(30);
    expect(secondsToListing(quiet, { ...after, hasMore: true }, 30)).toBe(0);
    expect(secondsToListing(quiet, { ...after, waitsFor: 'quiet' }, 30)).toBe(10);
    expect(secondsToListing({ on: 'quiet', seconds: 3_600 }, { ...after, waitsFor: 'quiet' }, 30)).toBe(30);
    expect(secondsToListing(daily, { ...after, waitsFor: 'open_imports' }, 30)).toBe(2);
    expect(secondsToListing(daily, { ...after, waitsFor: 'quota' }, 30)).toBe(30);
  });

  it('returns the next time of a schedule', () => {
    const now = new Date('2026-11-18T02:30:00.000Z');
    expect(nextImportAfter(quiet, now)).toBeNull();
    expect(nextImportAfter({ on: 'interval', seconds: 60 }, now)?.toISOString()).toBe('2026-11-18T02:31:00.000Z');
    expect(nextImportAfter(daily, now)?.toISOString()).toBe('2026-11-19T02:30:00.000Z');
    expect(nextImportAfter({ on: 'daily', minute: 151 }, now)?.toISOString()).toBe('2026-11-18T02:31:00.000Z');
  });

  it('recognizes a marker by its whole name', () => {
    expect(['a/_SUCCESS', '_SUCCESS', 'a/b_SUCCESS', 'a/_SUCCESS/b'].map((key) => isMarker(marker, key))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(isMarker(quiet, 'a/_SUCCESS')).toBe(false);
  });

  it('reads only times of day', () => {
    expect(['00:00', '02:30', '23:59', '24:00', '2:30', '02:60', ''].map(minuteOfDay)).toEqual([
      0,
      150,
      1439,
      null,
      null,
      null,
      null,
    ]);
    expect([0, 150, 1439].map(timeOfMinute)).toEqual(['00:00', '02:30', '23:59']);
  });
});
