import type { Log } from '../ports/observability.ts';
import { pause } from '../usecases/admin/pause.ts';

/** Runs a task repeatedly with a pause in between. Failures are logged. The task's signal aborts on stop. */
export function repeat(
  pauseMilliseconds: number,
  task: (signal: AbortSignal) => Promise<void>,
  log: Log,
): { stop: () => Promise<void> } {
  const stopped = new AbortController();
  const { signal } = stopped;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(pauseMilliseconds, signal);
      if (signal.aborted) return;
      try {
        await task(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, 'background task failed');
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
