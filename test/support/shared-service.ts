import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readAddresses } from '../../stack/addresses.ts';
import { actualTopology } from './environment.ts';
import { isAlive } from './is-alive.ts';
import { startService, type Service } from './running-service.ts';
import { createStores, dropStoresOf, type TestStores } from './stores.ts';
import { waitUntil } from './wait-until.ts';

// Suites with default settings share an API, a worker, and a database per vitest worker process, because starting the
// two processes takes two seconds of CPU time. Each suite has its own partner.

type Shared = { readonly stores: TestStores; readonly service: Service };
const entrySchema = z.object({
  database: z.string(),
  topology: z.enum(['one', 'two', 'replicated']),
  pids: z.array(z.int()),
});
type Entry = z.infer<typeof entrySchema>;

let shared: Promise<Shared> | undefined;

/** Starts the shared service on first use. `endSharedServices` stops it after the last suite. */
export function sharedService(): Promise<Shared> {
  shared ??= start();
  return shared;
}

async function start(): Promise<Shared> {
  const topology = actualTopology('two');
  const stores = await createStores(topology);
  const service = await startService(stores.environment, 'shared');
  const children = [service.api, service.worker];
  for (const child of children) child.unref();
  const entry: Entry = { database: stores.database, topology, pids: children.flatMap(({ pid }) => pid ?? []) };
  // The parent of a vitest worker process is the process that runs `global-setup.ts`.
  appendFileSync(fileOfRun(process.ppid), `${JSON.stringify(entry)}\n`);
  return { stores, service };
}

/** Stops the shared services of this run and of runs that were killed. */
export async function endSharedServices(): Promise<void> {
  for (const name of readdirSync(readAddresses().directory)) {
    const run = Number(/^shared-services-(\d+)\.jsonl$/.exec(name)?.[1]);
    if (Number.isNaN(run) || (run !== process.pid && isAlive(run))) continue;
    for (const line of readFileSync(fileOfRun(run), 'utf8').trim().split('\n'))
      await end(entrySchema.parse(JSON.parse(line)));
    rmSync(fileOfRun(run));
  }
}

async function end({ pids, database, topology }: Entry): Promise<void> {
  for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGTERM');
  await waitUntil('the shared service has stopped', () => Promise.resolve(!pids.some(isAlive)));
  await dropStoresOf(database, topology);
}

function fileOfRun(pid: number): string {
  return join(readAddresses().directory, `shared-services-${pid}.jsonl`);
}
