import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../ports/log.ts';

export type KeyTimes = {
  /** Keys that were asked for longer ago are not used: so long a key that is gone can still be good. */
  readonly maxAgeMs: number;
  /** From this age on, keys are used and asked for again. */
  readonly refreshMs: number;
  /** Between one question and the next, whoever sends tokens of whatever keys. */
  readonly cooldownMs: number;
  /** For an answer; less than the age, else keys could be too old when they come. */
  readonly timeoutMs: number;
};

/** At 300 s: asked for every minute while tokens come, and every 5 s at most for keys that are not known. */
export function keyTimes(maxAgeMs: number): KeyTimes {
  return {
    maxAgeMs,
    refreshMs: maxAgeMs / 5,
    cooldownMs: Math.min(5_000, maxAgeMs / 10),
    timeoutMs: Math.min(5_000, maxAgeMs / 2),
  };
}

export type Clock = { readonly now: () => number; readonly pause: (milliseconds: number) => Promise<unknown> };

/** One that nobody can set. */
const steadyClock: Clock = { now: () => performance.now(), pause };

export type Held<Keys> = {
  readonly keys: Keys;
  /** When they were asked for, not when they came: what was changed in between may not be in them. */
  readonly askedAt: number;
};

export type HeldKeys<Keys> = {
  /** Keys that may be used. */
  readonly current: () => Promise<Held<Keys>>;
  /** Keys that were asked for at this moment or later; waits until the issuer may be asked again. */
  readonly since: (moment: number) => Promise<Held<Keys>>;
  readonly now: () => number;
};

/**
 * Keeps the keys of an issuer. At most one question is under way at a time, for all who need its answer. A question that
 * failed is answered with the same failure until the next may be asked, so that nobody waits for an issuer that is away.
 */
export function holdKeys<Keys>(
  fetchKeys: (timeoutMs: number) => Promise<Keys>,
  times: KeyTimes,
  log: Log,
  clock: Clock = steadyClock,
): HeldKeys<Keys> {
  const { now } = clock;
  let held: Held<Keys> | null = null;
  let asking: Promise<Held<Keys>> | null = null;
  let failed: { readonly at: number; readonly error: unknown } | null = null;
  let lastAskedAt = -Infinity;

  const askAfterCooldown = async (): Promise<Held<Keys>> => {
    const rest = lastAskedAt + times.cooldownMs - now();
    if (rest > 0) await clock.pause(rest);
    const askedAt = now();
    lastAskedAt = askedAt;
    try {
      held = { keys: await fetchKeys(times.timeoutMs), askedAt };
      failed = null;
      return held;
    } catch (error) {
      failed = { at: now(), error };
      log.warn({ err: error }, 'the issuer of user tokens could not be asked for its keys');
      throw error;
    }
  };
  const ask = async (): Promise<Held<Keys>> => {
    if (!asking && failed && now() < failed.at + times.cooldownMs) throw failed.error;
    asking ??= askAfterCooldown().finally(() => {
      asking = null;
    });
    return asking;
  };
  const since = async (moment: number): Promise<Held<Keys>> => {
    let newest = held;
    // What is under way may have been asked before; the one after it was not.
    while (!newest || newest.askedAt < moment) newest = await ask();
    return newest;
  };
  return {
    now,
    since,
    current: async () => {
      const age = held ? now() - held.askedAt : Infinity;
      if (!held || age >= times.maxAgeMs) return ask();
      // It is logged, and the next call tries again.
      if (age >= times.refreshMs) ask().catch(() => undefined);
      return held;
    },
  };
}
