import type { SessionEnd } from './session.ts';

/** How long before the end of a session the user is asked whether to stay signed in. */
const warningMs = 120_000;

/** Returns the time until the user is asked. In a short session, this happens halfway through. */
export function msUntilWarning({ at, notedAt }: Pick<SessionEnd, 'at' | 'notedAt'>, now: number): number {
  return Math.max(0, at - Math.min(warningMs, (at - notedAt) / 2) - now);
}
