import { describe, expect, it } from 'vitest';
import type { AttemptResult } from './webhook.ts';
import {
  type Health,
  type ScheduleSettings,
  assessHealth,
  failuresBeforePause,
  healthy,
  nextAttemptAt,
  readRetryAfter,
  scheduleSeconds,
} from './webhook-schedule.ts';

const start = new Date('2026-11-18T12:00:00.000Z');
const plain: ScheduleSettings = { scale: 1, random: () => 0 };
const hour = 3_600;
const at = (seconds: number): Date => new Date(start.getTime() + seconds * 1000);
const attempt = (status: number | null, seconds = 0, retryAfterSeconds: number | null = null): AttemptResult => ({
  at: at(seconds),
  milliseconds: 3,
  status,
  error: status === null ? 'connection_failed' : null,
  retryAfterSeconds,
});

function afterFailures(times: readonly number[], status: number | null = 500): Health {
  return times.reduce<Health>(
    (health, seconds) => assessHealth(health, { result: attempt(status, seconds), isReplay: false }, plain).health,
    healthy,
  );
}

describe('the schedule of attempts', () => {
  it('sends an event ten times, within 76 hours', () => {
    const times = scheduleSeconds.map((_, tries) => nextAttemptAt(tries, attempt(500), plain));
    expect(times).toEqual(scheduleSeconds.map((seconds) => at(seconds)));
    expect(nextAttemptAt(scheduleSeconds.length, attempt(500), plain)).toBeNull();
    expect(scheduleSeconds.reduce<number>((sum, seconds) => sum + seconds, 0) / hour).toBeLessThan(76);
  });

  it('adds up to a fifth of the delay at random', () => {
    expect(nextAttemptAt(2, attempt(500), { ...plain, random: () => 1 })).toEqual(at(360));
  });

  it('waits for Retry-After, but not for longer than an hour', () => {
    expect(nextAttemptAt(1, attempt(429, 0, 60), plain)).toEqual(at(60));
    expect(nextAttemptAt(1, attempt(429, 0, 1e9), plain)).toEqual(at(hour));
    expect(nextAttemptAt(3, attempt(429, 0, 60), plain)).toEqual(at(1_800));
  });

  it('scales all times', () => {
    expect(nextAttemptAt(2, attempt(500), { ...plain, scale: 0.01 })).toEqual(at(3));
  });
});

describe('the health of a webhook', () => {
  it.each([200, 202, 204, 299])('is restored by the status %i', (status) => {
    const failing = afterFailures([0, 1, 2, 3, 4, 5]);
    expect(assessHealth(failing, { result: attempt(status, 6), isReplay: false }, plain).health).toEqual(healthy);
  });

  it.each([null, 199, 300, 301, 307, 400, 404, 500, 503])('counts the status %s as a failure', (status) => {
    expect(afterFailures([0], status)).toMatchObject({ failuresInARow: 1, failingSince: at(0), disabled: null });
  });

  it('pauses the webhook after five consecutive failures, with growing pauses of up to five minutes', () => {
    const times = (failures: number) => Array.from({ length: failures }, () => 0);
    expect(afterFailures(times(failuresBeforePause - 1)).pausedUntil).toBeNull();
    expect(afterFailures(times(failuresBeforePause)).pausedUntil).toEqual(at(5));
    expect(afterFailures(times(failuresBeforePause + 2)).pausedUntil).toEqual(at(20));
    expect(afterFailures(times(100)).pausedUntil).toEqual(at(300));
  });

  it('pauses the webhook after a timeout', () => {
    const result: AttemptResult = { ...attempt(null), error: 'timeout' };
    const { health } = assessHealth(healthy, { result, isReplay: false }, plain);
    expect(health).toMatchObject({ failuresInARow: failuresBeforePause, pausedUntil: at(5) });
  });

  it.each([429, 502, 504])('throttles the webhook after the first %i', (status) => {
    expect(afterFailures([0], status).pausedUntil).toEqual(at(30));
    const asked = assessHealth(healthy, { result: attempt(status, 0, 90), isReplay: false }, plain);
    expect(asked.health.pausedUntil).toEqual(at(90));
  });

  it('disables the webhook after a 410 response', () => {
    expect(afterFailures([0], 410).disabled).toEqual({ at: at(0), reason: 'gone' });
  });

  it('warns once after a day of failures, and disables the webhook after five days', () => {
    const days = Array.from({ length: 4 * 5 + 1 }, (_, quarter) => quarter * 6 * hour);
    let health = healthy;
    const warnings: number[] = [];
    const disabled: boolean[] = [];
    for (const seconds of days) {
      const assessed = assessHealth(health, { result: attempt(500, seconds), isReplay: false }, plain);
      if (assessed.warns) warnings.push(seconds / hour);
      health = assessed.health;
      disabled.push(health.disabled !== null);
    }
    expect(warnings).toEqual([24]);
    expect(disabled.indexOf(true)).toBe(days.length - 1);
    expect(health.disabled).toEqual({ at: at(120 * hour), reason: 'failures' });
  });

  it('does not disable a webhook after a single failure long after the previous one', () => {
    const health = afterFailures([0, 30 * 24 * hour]);
    expect(health).toMatchObject({ failingSince: at(30 * 24 * hour), disabled: null });
  });

  it('neither warns about nor disables the webhook after a failed replay', () => {
    const failing = afterFailures([0, 5 * 24 * hour - 47 * hour]);
    const assessed = assessHealth(failing, { result: attempt(500, 6 * 24 * hour), isReplay: true }, plain);
    expect(assessed).toEqual({ health: { ...failing, failuresInARow: 3 }, warns: false });
  });

  it('does not disable the webhook after a 410 response to a replay', () => {
    const assessed = assessHealth(healthy, { result: attempt(410), isReplay: true }, plain);
    expect(assessed).toEqual({ health: { ...healthy, failuresInARow: 1 }, warns: false });
  });

  it('is paused by failed replays in the same way as by other failures', () => {
    const replayed = { isReplay: true } as const;
    const timeout: AttemptResult = { ...attempt(null), error: 'timeout' };
    expect(assessHealth(healthy, { result: timeout, ...replayed }, plain).health).toEqual({
      ...healthy,
      failuresInARow: failuresBeforePause,
      pausedUntil: at(5),
    });
    const dead = Array.from({ length: failuresBeforePause }).reduce<Health>(
      (health) => assessHealth(health, { result: attempt(500), ...replayed }, plain).health,
      healthy,
    );
    expect(dead).toEqual({ ...healthy, failuresInARow: failuresBeforePause, pausedUntil: at(5) });
  });

  it('is restored by a successful replay', () => {
    const failing = afterFailures([0, 1]);
    expect(assessHealth(failing, { result: attempt(200, 6), isReplay: true }, plain).health).toEqual(healthy);
  });
});

describe('Retry-After', () => {
  it.each([
    [undefined, null],
    ['120', 120],
    ['Wed, 18 Nov 2026 12:01:00 GMT', 60],
    ['Wed, 18 Nov 2026 11:00:00 GMT', 0],
    ['soon', null],
    ['', null],
  ])('reads %s as %s seconds', (header, seconds) => {
    expect(readRetryAfter(header, start)).toBe(seconds);
  });
});
