import { setTimeout as pause } from 'node:timers/promises';

export type RetrySettings = {
  /** How often a call is tried at most, the first time included. */
  readonly attempts: number;
  /** The most before the second attempt; it doubles with each further one. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** A longer `Retry-After` is not waited for: the problem is given back instead. */
  readonly longestRetryAfterMs: number;
};

export const defaultRetry: RetrySettings = {
  attempts: 5,
  firstDelayMs: 250,
  longestDelayMs: 10_000,
  longestRetryAfterMs: 60_000,
};

/**
 * How long to wait after an attempt, from 1; null: not at all, give up. Somewhere between nothing and twice as much as
 * before, so that many clients that failed together do not come back together. What the api asks for is kept, and spread.
 */
export function delayAfter(
  attempt: number,
  retryAfterMs: number | null,
  settings: RetrySettings,
  random: () => number = Math.random,
): number | null {
  if (attempt >= settings.attempts) return null;
  const most = Math.min(settings.longestDelayMs, settings.firstDelayMs * 2 ** (attempt - 1));
  if (retryAfterMs === null) return random() * most;
  if (retryAfterMs > settings.longestRetryAfterMs) return null;
  return retryAfterMs + random() * settings.firstDelayMs;
}

/** `Retry-After` in milliseconds: seconds, or a date. Null where there is none. */
export function readRetryAfter(header: string | null, now: number = Date.now()): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** False when the signal ended it. */
export async function rest(milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await pause(milliseconds, undefined, signal ? { signal } : {});
    return true;
  } catch {
    return false;
  }
}
