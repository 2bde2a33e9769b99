import { setTimeout as pause } from 'node:timers/promises';

/** The condition can no longer become true, for example because a process has exited. */
export class CannotHappen extends Error {}

/** Polls a condition for at most two minutes. Treats an error as "not yet", except `CannotHappen`. */
export async function waitUntil(
  what: string,
  condition: () => Promise<boolean>,
  seconds = 120,
  everyMilliseconds = 50,
): Promise<void> {
  const end = Date.now() + seconds * 1000;
  let last: unknown;
  while (Date.now() < end) {
    try {
      if (await condition()) return;
    } catch (error) {
      if (error instanceof CannotHappen) throw error;
      last = error;
    }
    await pause(everyMilliseconds);
  }
  throw new Error(`timed out after ${seconds} s waiting until ${what}`, { cause: last });
}
