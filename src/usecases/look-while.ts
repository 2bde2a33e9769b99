import type { Log } from '../ports/log.ts';

/** Twice a second: what nobody wants any more is stopped well within two. */
const lookEvery = 500;

/** Looks again and again while something runs, one look at a time. A look that fails is left out; the other goes on. */
export async function lookWhile<T>(log: Log, look: () => Promise<void>, run: () => Promise<T>): Promise<T> {
  const state: { looking: Promise<void> | null } = { looking: null };
  const timer = setInterval(() => {
    state.looking ??= look()
      .catch((error: unknown) => log.warn({ err: error }, 'a look at running work failed'))
      .finally(() => {
        state.looking = null;
      });
  }, lookEvery);
  try {
    return await run();
  } finally {
    clearInterval(timer);
    await state.looking;
  }
}
