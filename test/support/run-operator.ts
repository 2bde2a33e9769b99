import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import type { Ran } from './run-inlet.ts';

const ranSchema = z.object({ code: z.int(), out: z.string(), err: z.string() });

let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs an operator command like `runInlet`, but without starting a new process, which takes a second of CPU time. A
 * test's commands run in the order of the calls.
 */
export function runOperator(
  environment: Readonly<Record<string, string>>,
  parameters: readonly string[],
): Promise<Ran> {
  const ran = last.then(() => send(environment, parameters));
  last = ran.catch(() => undefined);
  return ran;
}

/** Returns the output of the command. Throws if the command fails. */
export async function operatorOutput(...given: Parameters<typeof runOperator>): Promise<string> {
  const { code, out, err } = await runOperator(...given);
  if (code !== 0) throw new Error(`inlet ${given[1].join(' ')}: ${out}${err}`);
  return out;
}

async function send(environment: Readonly<Record<string, string>>, parameters: readonly string[]): Promise<Ran> {
  host ??= startHost();
  const answered = once(host, 'message');
  host.send({ environment: { PATH: '/usr/bin:/bin', ...environment }, parameters });
  return z
    .tuple([ranSchema])
    .rest(z.unknown())
    .parse(await answered)[0];
}

/** The host process exits together with the process that started it. */
function startHost(): ChildProcess {
  const child = fork(new URL('./cli-host.ts', import.meta.url), [], { execArgv: [], env: { PATH: '/usr/bin:/bin' } });
  child.unref();
  child.channel?.unref();
  child.once('exit', () => (host = undefined));
  return child;
}
