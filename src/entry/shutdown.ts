import type { Logger } from 'pino';

type Step = { readonly name: string; readonly run: () => Promise<unknown> };

/**
 * On SIGTERM or SIGINT, runs groups of shutdown steps in order: stop accepting work, wait for running work, and close
 * connections. After a second signal or the grace period, the process exits immediately, and other processes take over
 * its work.
 */
export function stopInOrder(log: Logger, graceSeconds: number, groups: readonly (readonly Step[])[]): void {
  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    const overdue = setTimeout(() => {
      log.error({ graceSeconds }, 'shutdown exceeded the grace period');
      process.exit(1);
    }, graceSeconds * 1000);
    overdue.unref();
    for (const group of groups) {
      const results = await Promise.allSettled(group.map(({ run }) => run()));
      for (const [index, result] of results.entries()) {
        if (result.status === 'rejected')
          log.error({ step: group[index]?.name, err: result.reason as unknown }, 'shutdown step failed');
      }
    }
    log.info('stopped');
    process.exit(0);
  };
  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void stop(signal));
}
