import type { Log } from '../ports/log.ts';

/** Runs a task again and again with a pause between. A failure is logged and does not end it. */
export function repeat(pauseMilliseconds: number, task: () => Promise<void>, log: Log): { stop: () => Promise<void> } {
  const stopped = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await pause(pauseMilliseconds, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        await task();
      } catch (error) {
        log.warn({ err: error }, 'a repeated task failed');
      }
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
