import type { Log } from '../ports/observability.ts';
import type { ChangeFeed } from '../ports/records.ts';
import { pause } from '../usecases/admin/pause.ts';

/** Otherwise, a task that runs often would fill the log during an outage. */
const minPauseAfterFailureMs = 1_000;

/**
 * Runs a task repeatedly with a pause in between. A change ends the pause, except after a failure. Failures are logged.
 * `stop` aborts the task's signal.
 */
export function repeat(
  pauseMilliseconds: number,
  task: (signal: AbortSignal) => Promise<void>,
  log: Log,
  changes?: Pick<ChangeFeed, 'subscribe'>,
): { stop: () => Promise<void> } {
  const stopped = new AbortController();
  const { signal } = stopped;
  let wake: (() => void) | null = null;
  let hasChanged = false;
  changes?.subscribe(() => {
    hasChanged = true;
    wake?.();
  });
  /** Returns immediately if a change occurred while the task was running. */
  const pauseUntilChange = async (): Promise<void> => {
    const changed = new AbortController();
    wake = () => changed.abort();
    if (!hasChanged) await pause(pauseMilliseconds, AbortSignal.any([signal, changed.signal]));
    wake = null;
    hasChanged = false;
  };
  const run = async (): Promise<void> => {
    let hasFailed = false;
    while (!signal.aborted) {
      if (hasFailed) await pause(Math.max(pauseMilliseconds, minPauseAfterFailureMs), signal);
      else await pauseUntilChange();
      if (signal.aborted) return;
      hasFailed = false;
      try {
        await task(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, 'background task failed');
        hasFailed = true;
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
