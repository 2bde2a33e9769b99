import type { DisabledReason } from './event.ts';
import type { AttemptResult } from './webhook.ts';

// When an event is sent again after a failure, and when a webhook is paused or disabled. Standard Webhooks recommends
// these times.

/** Seconds before each attempt of an event. */
export const scheduleSeconds = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;

export type ScheduleSettings = {
  /** Multiplies all times. Less than 1 in tests only. */
  readonly scale: number;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
};

/** Up to a fifth is added, so that events that failed together are not sent again at the same time. */
const jitter = 0.2;

/** A receiver cannot postpone an event for longer than this. */
const maxRetryAfterSeconds = 3_600;

/** While a webhook fails, one event is sent at a time, with these pauses in between. */
const minPauseSeconds = 5;
const maxPauseSeconds = 300;

/** A webhook with this number of consecutive failures is paused. A few single failures do not delay other events. */
export const failuresBeforePause = 5;

/** A response with one of these statuses asks for fewer requests. */
const throttled: ReadonlySet<number> = new Set([429, 502, 504]);
const throttleSeconds = 30;

const warnAfterSeconds = 24 * 3_600;
const disableAfterSeconds = 5 * 24 * 3_600;
/**
 * After a longer time without an attempt, a failure starts a new period. Otherwise, a single failure would disable a
 * webhook whose previous event, a month ago, also failed. The longest pause between two attempts is 29 h.
 */
const forgetFailuresAfterSeconds = 48 * 3_600;

export function isDelivered({ status }: AttemptResult): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Returns the time of the next attempt after `tries` failed attempts, or null after the last one. */
export function nextAttemptAt(
  tries: number,
  { at, retryAfterSeconds }: Pick<AttemptResult, 'at' | 'retryAfterSeconds'>,
  { scale, random }: ScheduleSettings,
): Date | null {
  const seconds = scheduleSeconds[tries];
  if (seconds === undefined) return null;
  const scheduled = seconds * (1 + jitter * random());
  return after(at, Math.max(scheduled, boundedRetryAfter(retryAfterSeconds)) * scale);
}

export type Health = {
  readonly failuresInARow: number;
  readonly failingSince: Date | null;
  readonly lastFailureAt: Date | null;
  readonly warnedAt: Date | null;
  readonly pausedUntil: Date | null;
  readonly disabled: { readonly at: Date; readonly reason: DisabledReason } | null;
};

export const healthy: Health = {
  failuresInARow: 0,
  failingSince: null,
  lastFailureAt: null,
  warnedAt: null,
  pausedUntil: null,
  disabled: null,
};

export function isPaused({ failuresInARow }: Pick<Health, 'failuresInARow'>): boolean {
  return failuresInARow >= failuresBeforePause;
}

/**
 * An attempt, and whether it was a replay. A failed replay says nothing about new events, so it never leads to a
 * warning or disables the webhook. It pauses the webhook like every other failure, because it occupies a worker for
 * just as long.
 */
export type CountedAttempt = { readonly result: AttemptResult; readonly isReplay: boolean };

/** Returns the state of a webhook after an attempt, and whether to warn its owner. */
export function assessHealth(
  before: Health,
  { result, isReplay }: CountedAttempt,
  settings: ScheduleSettings,
): { readonly health: Health; readonly warns: boolean } {
  if (isDelivered(result)) return { health: healthy, warns: false };
  const { at, status } = result;
  if (status === 410 && !isReplay)
    return { health: { ...before, pausedUntil: null, disabled: { at, reason: 'gone' } }, warns: false };
  // A receiver that does not respond occupies a connection until the timeout.
  const failuresInARow = before.failuresInARow + (result.error === 'timeout' ? failuresBeforePause : 1);
  const pause = later(pauseOfThrottle(result, settings), pauseOfFailures(failuresInARow, at, settings));
  const pausedUntil = later(before.pausedUntil, pause);
  if (isReplay) return { health: { ...before, failuresInARow, pausedUntil }, warns: false };
  const { scale } = settings;
  const isForgotten =
    before.lastFailureAt === null || at > after(before.lastFailureAt, forgetFailuresAfterSeconds * scale);
  const failingSince = isForgotten ? at : (before.failingSince ?? at);
  const warnedAt = isForgotten ? null : before.warnedAt;
  const warns = warnedAt === null && at >= after(failingSince, warnAfterSeconds * scale);
  const isOver = at >= after(failingSince, disableAfterSeconds * scale);
  const health: Health = {
    failuresInARow,
    failingSince,
    lastFailureAt: at,
    warnedAt: warns ? at : warnedAt,
    pausedUntil,
    disabled: isOver ? { at, reason: 'failures' } : null,
  };
  return { health, warns: warns && !isOver };
}

/** When a failing webhook will be disabled if nothing is delivered by then. */
export function disablesAt(failingSince: Date, scale: number): Date {
  return after(failingSince, disableAfterSeconds * scale);
}

function pauseOfFailures(failures: number, at: Date, { scale, random }: ScheduleSettings): Date | null {
  if (failures < failuresBeforePause) return null;
  const seconds = Math.min(maxPauseSeconds, minPauseSeconds * 2 ** (failures - failuresBeforePause));
  return after(at, seconds * (1 + jitter * random()) * scale);
}

function pauseOfThrottle({ at, status, retryAfterSeconds }: AttemptResult, { scale }: ScheduleSettings): Date | null {
  if (status === null || !(throttled.has(status) || (status === 503 && retryAfterSeconds !== null))) return null;
  const seconds = retryAfterSeconds === null ? throttleSeconds : boundedRetryAfter(retryAfterSeconds);
  return after(at, seconds * scale);
}

function boundedRetryAfter(seconds: number | null): number {
  return Math.min(maxRetryAfterSeconds, Math.max(0, seconds ?? 0));
}

function after(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}

function later(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

/** Reads `Retry-After` in seconds or as a date (RFC 9110). Returns null if it is absent or malformed. */
export function readRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now.getTime()) / 1000));
}
