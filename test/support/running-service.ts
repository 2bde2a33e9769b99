import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { logDirectory } from './log-directory.ts';
import { CannotHappen, waitUntil } from './wait-until.ts';
import { processArguments } from '../../stack/process-arguments.ts';

export type ServiceProcess = { readonly child: ChildProcess; readonly logFile: string };
export type Service = {
  readonly url: string;
  readonly api: ChildProcess;
  readonly worker: ChildProcess;
  readonly stop: () => Promise<void>;
};

let serial = 0;

/** Starts the API and a worker as real processes. Keeps their logs, because a later test searches them for secrets. */
export async function startService(environment: Readonly<Record<string, string>>, label: string): Promise<Service> {
  const [api, worker] = await Promise.all([startApi(environment, label), startWorker(environment, label)]);
  return {
    url: api.url,
    api: api.child,
    worker: worker.child,
    stop: async () => {
      await Promise.all([stopProcess(api.child), stopProcess(worker.child)]);
    },
  };
}

/** `folder`: the source tree of another release. */
export async function startApi(
  environment: Readonly<Record<string, string>>,
  label: string,
  tree?: string,
): Promise<ServiceProcess & { readonly url: string }> {
  const api = startProcess('api', environment, label, tree);
  let url = '';
  await waitUntil(`the API is ready (see ${api.logFile})`, async () => {
    requireAlive(api);
    url = /Server listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(readFileSync(api.logFile, 'utf8'))?.[1] ?? '';
    return url !== '' && (await fetch(`${url}/health/ready`)).ok;
  });
  return { ...api, url };
}

export async function startWorker(
  environment: Readonly<Record<string, string>>,
  label: string,
  tree?: string,
): Promise<ServiceProcess> {
  const worker = startProcess('worker', environment, label, tree);
  await waitUntil(`the worker is ready (see ${worker.logFile})`, async () => {
    requireAlive(worker);
    return Promise.resolve(readFileSync(worker.logFile, 'utf8').includes('"working"'));
  });
  return worker;
}

/** Starts a process from this source tree or another one. */
export function startProcess(
  entry: 'api' | 'worker',
  environment: Readonly<Record<string, string>>,
  label: string,
  tree?: string,
): ServiceProcess {
  mkdirSync(logDirectory, { recursive: true });
  serial += 1;
  const logFile = join(logDirectory, `${label}-${entry}-${process.pid}-${serial}.log`);
  const output = openSync(logFile, 'w');
  const child = spawn(process.execPath, processArguments(entry), {
    // Passes only the required variables, so that the developer's environment has no effect.
    env: { PATH: '/usr/bin:/bin', INLET_LOG_LEVEL: 'debug', ...environment },
    stdio: ['ignore', output, output],
    cwd: tree,
  });
  closeSync(output);
  return { child, logFile };
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

function requireAlive({ child, logFile }: ServiceProcess): void {
  if (child.exitCode !== null || child.signalCode !== null)
    throw new CannotHappen(`a process exited early with code ${child.exitCode}; see ${logFile}`);
}
