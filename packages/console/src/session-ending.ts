import type { SessionEnd } from './session.ts';

/** How long before the end of a session the user is asked. */
const warningMs = 120_000;

/** Returns how long to wait until the user is asked. With a short session, half of it passes first. */
export function msUntilWarning({ at, notedAt }: Pick<SessionEnd, 'at' | 'notedAt'>, now: number): number {
  return Math.max(0, at - Math.min(warningMs, (at - notedAt) / 2) - now);
}
