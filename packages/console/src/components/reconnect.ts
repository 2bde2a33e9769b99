import type { Problem } from '@inlet/sdk/browser';

const firstDelayMs = 1_000;
const longestDelayMs = 15_000;

/**
 * Whether reconnecting can succeed without a change, for example after the API restarts or while too many streams are
 * open.
 */
export function canReconnect(problem: Problem): boolean {
  if (problem.from === 'sdk') return problem.code !== 'invalid_argument' && problem.code !== 'aborted';
  return problem.status === 429 || problem.status >= 500;
}

/** Exponential backoff. Up to half of the delay is random, so that tabs do not reconnect together. */
export function reconnectDelay(failures: number, random: () => number = Math.random): number {
  const longest = Math.min(longestDelayMs, firstDelayMs * 2 ** failures);
  return longest * (0.5 + random() / 2);
}
