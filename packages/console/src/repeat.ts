import { hasExpired } from './expiry.ts';

/** Whether somebody can see the page and its session has not ended. */
export type Attention = {
  readonly isPresent: () => boolean;
  /** Calls the listener when this may have changed. Returns the function that removes it. */
  readonly watch: (listener: () => void) => () => void;
};

const ofReader: Attention = {
  isPresent: () => document.visibilityState === 'visible' && !hasExpired.peek(),
  watch: (listener) => {
    document.addEventListener('visibilitychange', listener);
    const stopWatching = hasExpired.subscribe(listener);
    return () => {
      document.removeEventListener('visibilitychange', listener);
      stopWatching();
    };
  },
};

/** Returns the delay in milliseconds before the next run, or undefined to stop. */
export type Run = (signal: AbortSignal) => Promise<number | undefined>;

/**
 * Runs immediately, and again after a delay when each run has ended, so that a slow response is never aborted by the
 * next call. Waits while nobody can see the page, and after the session has ended, because further calls would be
 * rejected. Returns the function that stops it.
 */
export function repeat(run: Run, attention: Attention = ofReader): () => void {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDue = false;
  const start = async (): Promise<void> => {
    isDue = false;
    const delay = await run(stop.signal);
    if (delay !== undefined && !stop.signal.aborted) timer = setTimeout(note, delay);
  };
  const note = (): void => {
    isDue = true;
    startIfDue();
  };
  const startIfDue = (): void => {
    if (isDue && attention.isPresent()) void start();
  };
  void start();
  const stopWatching = attention.watch(startIfDue);
  return () => {
    stop.abort();
    clearTimeout(timer);
    stopWatching();
  };
}
