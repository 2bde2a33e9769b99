import type { Log } from '../ports/observability.ts';
import { pause } from '../usecases/admin/pause.ts';

/** A task that runs often would fill the log during an outage. */
const minPauseAfterFailureMs = 1_000;

/** Runs a task repeatedly with a pause in between. Failures are logged. The task's signal aborts on stop. */
export function repeat(
  pauseMilliseconds: number,
  task: (signal: AbortSignal) => Promise<void>,
  log: Log,
): { stop: () => Promise<void> } {
  const stopped = new AbortController();
  const { signal } = stopped;
  const run = async (): Promise<void> => {
    let nextPause = pauseMilliseconds;
    while (!signal.aborted) {
      await pause(nextPause, signal);
      if (signal.aborted) return;
      nextPause = pauseMilliseconds;
      try {
        await task(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, 'background task failed');
        nextPause = Math.max(pauseMilliseconds, minPauseAfterFailureMs);
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
