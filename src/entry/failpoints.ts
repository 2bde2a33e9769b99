import { AsyncLocalStorage } from 'node:async_hooks';
import { writeSync } from 'node:fs';
import type { Log } from '../ports/observability.ts';
import { queryOf, wrapMethods } from './wrap-methods.ts';

/**
 * For crash tests. Every effect of a process is a port call or a ClickHouse statement, and a test can kill the process
 * before or after each of them. The list of failpoints comes from a recording run instead of the code, so no failpoint
 * can be forgotten.
 */
export type Failpoints = {
  /** Adds a failpoint before and after each method of a port. */
  readonly wrapPort: <Port extends object>(name: string, port: Port) => Port;
  /** Adds a failpoint after each statement that can change data. */
  readonly wrapShard: <Shard extends object>(shard: Shard) => Shard;
};

/** In this mode, the process logs each failpoint that it passes. */
export const recordPoints = 'record';

const changing: ReadonlySet<string> = new Set(['command', 'exec', 'insert']);

/** Prefix of a failpoint name. The process stops once at that failpoint (SIGSTOP) and resumes on SIGCONT. */
export const stopAt = 'stop ';

/** Writes synchronously, because the process ends before the logger could write. */
function logNow(fields: Readonly<Record<string, string>>): void {
  writeSync(process.stdout.fd, `${JSON.stringify({ level: 40, ...fields })}\n`);
}

/** Kills the process at the named failpoint, as a power failure would. */
export function failpoints(target: string | undefined, log: Log): Failpoints {
  if (target === undefined) return { wrapPort: (_name, port) => port, wrapShard: (shard) => shard };
  const method = new AsyncLocalStorage<string>();
  let hasStopped = false;
  const pass = (point: string): void => {
    if (target === recordPoints) log.info({ point }, 'point');
    if (target === stopAt + point && !hasStopped) {
      hasStopped = true;
      logNow({ point, msg: 'stopped at this point' });
      process.kill(process.pid, 'SIGSTOP');
    }
    if (target !== point) return;
    logNow({ point, msg: 'killed at this point' });
    process.kill(process.pid, 'SIGKILL');
  };
  return {
    wrapPort: (name, port) =>
      wrapMethods(port, (property, call) => {
        const point = `${name}.${property}`;
        return method.run(point, async () => {
          pass(`before ${point}`);
          const result = await call();
          pass(`after ${point}`);
          return result;
        });
      }),
    wrapShard: (shard) =>
      wrapMethods(shard, async (property, call, [options]) => {
        const result = await call();
        const inMethod = method.getStore();
        if (inMethod !== undefined && changing.has(property)) pass(`in ${inMethod}, after ${statementOf(options)}`);
        return result;
      }),
  };
}

/** Returns the first words of a statement. Removes the numbers from names of staging tables and partitions. */
function statementOf(options: unknown): string {
  const words = queryOf(options)
    .replaceAll(/\d+/g, '#')
    .split(/[\s(),]+/)
    .filter((word) => word !== '');
  return words.slice(0, 6).join(' ');
}
