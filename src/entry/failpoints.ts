import { AsyncLocalStorage } from 'node:async_hooks';
import { writeSync } from 'node:fs';
import type { Log } from '../ports/observability.ts';
import { queryOf, wrapMethods } from './wrap-methods.ts';

/**
 * For tests of crashes. Whatever this service does to a store it does through a port, and to the engine in statements:
 * before and after each there is a point at which a process can be killed. They need no list in the code, so that none
 * can be forgotten; a run that only records them makes the list.
 */
export type Failpoints = {
  /** The same port, with a point before and after each of its methods. */
  readonly wrapPort: <Port extends object>(name: string, port: Port) => Port;
  /** The same client of a shard, with a point after each statement that may change something. */
  readonly wrapShard: <Shard extends object>(shard: Shard) => Shard;
};

/** Writes the points to the log as they are passed. */
export const recordPoints = 'record';

const changing: ReadonlySet<string> = new Set(['command', 'exec', 'insert']);

/** Before the name of a point: the process stands still there, once, until it is told to go on. */
export const stopAt = 'stop ';

/** To the log, before anything else happens: the logger itself writes a moment later, and the process may have none. */
function logNow(fields: Readonly<Record<string, string>>): void {
  writeSync(process.stdout.fd, `${JSON.stringify({ level: 40, ...fields })}\n`);
}

/** What happens at the point with the name that is given: the process is gone, as if the power had failed. */
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

/** The first words of a statement, without the numbers in the names of rooms and partitions. */
function statementOf(options: unknown): string {
  const words = queryOf(options)
    .replaceAll(/\d+/g, '#')
    .split(/[\s(),]+/)
    .filter((word) => word !== '');
  return words.slice(0, 6).join(' ');
}
