import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { setTimeout as pause } from 'node:timers/promises';
import type { Secret } from '../../src/domain/secret.ts';
import {
  type EngineServerName,
  type ServerName,
  removeServerData,
  signalServer,
  startServers,
} from '../fault/real-servers.ts';
import type { TestCluster } from '../fault/test-cluster.ts';
import { type Proxy, type Trouble, slowDown } from '../support/proxy.ts';
import { runInlet } from '../support/run-inlet.ts';
import type { ServiceProcess } from '../support/running-service.ts';
import { waitUntil } from '../support/wait-until.ts';

/** A fault to inject. */
export type Fault = {
  readonly name: string;
  /** The relative frequency of the fault. */
  readonly weight: number;
  readonly kills: number;
  /** Injects the fault and resolves when it is over. */
  readonly happen: () => Promise<void>;
};

export type Faults = {
  readonly list: readonly Fault[];
  /** Processes that exited on their own or could not be restarted. */
  readonly unexpected: string[];
  /** Waits until every process that exited has been replaced. */
  readonly waitForRestarts: () => Promise<void>;
};

/** Runs a statement. A server that is not running has no rows to fetch, so it is ignored. */
async function runOn(url: Secret | undefined, query: string): Promise<void> {
  const client = createClient({ url: url?.reveal() ?? '', log: { level: ClickHouseLogLevel.OFF } });
  await client.command({ query }).catch(() => undefined);
  await client.close();
}

/** Restart attempts per process. A process that starts while a dependency is unavailable exits. */
const maxStarts = 60;

export function faultsOf(cluster: TestCluster, pick: (most: number) => number): Faults {
  const { proxies } = cluster;
  const unexpected: string[] = [];
  /** Processes that a fault killed. */
  const endedByFault = new Set<ServiceProcess>();
  const watch = (one: ServiceProcess): void => {
    one.child.once('exit', (code, signal) => {
      if (!endedByFault.has(one)) unexpected.push(`${one.logFile}: exited unexpectedly, ${signal ?? code}`);
    });
  };
  for (const one of [...cluster.apis, ...cluster.workers]) watch(one);

  const one = <T extends ServiceProcess>(set: ReadonlySet<T>): T | undefined => [...set][pick(set.size)];
  const seconds = (min: number, max: number): Promise<void> => pause(1000 * (min + pick(10 * (max - min)) / 10));

  const pendingStarts = new Set<Promise<void>>();
  /** Restarts the process in the background, as a supervisor would. */
  const startAnother = (start: () => Promise<ServiceProcess>): void => {
    const starting = (async () => {
      for (let n = 0; n < maxStarts; n++) {
        try {
          watch(await start());
          return;
        } catch {
          await pause(1_000);
        }
      }
      unexpected.push('a process could not be restarted');
    })();
    pendingStarts.add(starting);
    void starting.then(() => pendingStarts.delete(starting));
  };
  const endWorker = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    while (cluster.workers.size < 2) await pause(100);
    const victim = one(cluster.workers);
    if (!victim) return;
    endedByFault.add(victim);
    cluster.workers.delete(victim);
    victim.child.kill(signal);
    startAnother(cluster.addWorker);
  };
  const killApi = async (): Promise<void> => {
    while (cluster.apis.size < 2) await pause(100);
    const victim = one(cluster.apis);
    if (!victim) return;
    endedByFault.add(victim);
    cluster.apis.delete(victim);
    victim.child.kill('SIGKILL');
    startAnother(cluster.addApi);
  };
  const suspendWorker = async (): Promise<void> => {
    const victim = one(cluster.workers);
    victim?.child.kill('SIGSTOP');
    await seconds(5, 14);
    victim?.child.kill('SIGCONT');
  };
  const trouble = (name: string, weight: number, between: readonly Proxy[], what: Trouble, most: number): Fault => ({
    name,
    weight,
    kills: 0,
    happen: async () => {
      for (const proxy of between) proxy.make(what);
      await seconds(1, most);
      for (const proxy of between) proxy.make({ is: 'none' });
    },
  });
  const killServers = (weight: number, ...names: ServerName[]): Fault => ({
    name: `${names.join(' and ')} killed`,
    weight,
    kills: names.length,
    happen: async () => {
      for (const name of names) signalServer(name, 'SIGKILL');
      await seconds(0, 5);
      await startServers();
    },
  });
  const suspendServer = (name: ServerName): Fault => ({
    name: `${name} suspended`,
    weight: 1,
    kills: 0,
    happen: async () => {
      signalServer(name, 'SIGSTOP');
      await seconds(3, 12);
      signalServer(name, 'SIGCONT');
    },
  });
  /** Stops a replica from fetching the other replica's rows. */
  const lag = (): Fault => ({
    name: 'a replica lags',
    weight: 4,
    kills: 0,
    happen: async () => {
      const urls = cluster.stores.config.INLET_CLICKHOUSE_URLS.flat();
      const url = urls[pick(urls.length)];
      await runOn(url, 'SYSTEM STOP FETCHES');
      await seconds(2, 60);
      await runOn(url, 'SYSTEM START FETCHES');
    },
  });
  /** Stops the replicas of a shard from copying rows from each other. Both still reach ZooKeeper and the workers. */
  const partition = (shard: number): Fault => ({
    name: `the replicas of shard ${shard + 1} cannot reach each other`,
    weight: 3,
    kills: 0,
    happen: async () => {
      const urls = cluster.stores.config.INLET_CLICKHOUSE_URLS[shard] ?? [];
      for (const url of urls)
        for (const query of ['SYSTEM STOP FETCHES', 'SYSTEM STOP REPLICATED SENDS']) await runOn(url, query);
      await seconds(2, 90);
      for (const url of urls)
        for (const query of ['SYSTEM START FETCHES', 'SYSTEM START REPLICATED SENDS']) await runOn(url, query);
    },
  });
  /** Removes a replica's data and rebuilds the replica as an operator would. */
  const loseDisk = (name: EngineServerName): Fault => ({
    name: `${name} lost its disk`,
    weight: 2,
    kills: 1,
    happen: async () => {
      await removeServerData(name);
      await startServers();
      const rebuild = async (): Promise<boolean> =>
        (await runInlet(cluster.stores.environment, ['topology', 'change', '--confirm'])).code === 0;
      await waitUntil(`${name} is rebuilt`, rebuild, 300, 2_000);
    },
  });
  const engines = proxies.engine;
  const replicas: readonly Fault[] = [
    killServers(8, 'shard 1, replica 2'),
    killServers(8, 'shard 2, replica 2'),
    killServers(8, 'shard 1'),
    killServers(8, 'shard 2'),
    killServers(2, 'shard 1', 'shard 2, replica 2'),
    killServers(6, 'ZooKeeper'),
    trouble('a replica cut off', 6, engines.slice(1, 2), { is: 'cut' }, 40),
    trouble(
      'the first replica of each shard cut off',
      4,
      [engines[0], engines[2]].flatMap((engine) => engine ?? []),
      { is: 'cut' },
      40,
    ),
    lag(),
    partition(0),
    partition(1),
    loseDisk('shard 1, replica 2'),
    loseDisk('shard 2'),
  ];
  return {
    unexpected,
    waitForRestarts: async () => void (await Promise.all(pendingStarts)),
    list: [
      { name: 'worker killed', weight: 50, kills: 1, happen: () => endWorker('SIGKILL') },
      { name: 'worker stopped', weight: 8, kills: 0, happen: () => endWorker('SIGTERM') },
      { name: 'worker suspended', weight: 6, kills: 0, happen: suspendWorker },
      { name: 'API process killed', weight: 14, kills: 1, happen: killApi },
      trouble('PostgreSQL cut off', 3, [proxies.postgres], { is: 'cut' }, 4),
      trouble('ClickHouse cut off', 3, engines, { is: 'cut' }, 4),
      trouble('a shard cut off', 3, engines.slice(1), { is: 'cut' }, 4),
      trouble('storage cut off', 3, [proxies.storage], { is: 'cut' }, 4),
      trouble('PostgreSQL stalled', 1, [proxies.postgres], { is: 'stalled' }, 10),
      trouble('ClickHouse stalled', 1, engines, { is: 'stalled' }, 15),
      trouble('storage stalled', 1, [proxies.storage], { is: 'stalled' }, 15),
      trouble('storage slow', 2, [proxies.storage], { is: 'slow', bytesPerSecond: 20_000 }, 8),
      trouble('storage truncates responses', 3, [proxies.storage], { is: 'truncated', afterBytes: 700 }, 5),
      trouble('storage throttles', 2, [proxies.storage], slowDown, 5),
      killServers(3, 'shard 1'),
      killServers(3, 'shard 2'),
      killServers(2, 'shard 1', 'shard 2'),
      killServers(3, 'PostgreSQL'),
      killServers(3, 'S3 gateway'),
      suspendServer('shard 1'),
      suspendServer('S3 gateway'),
      ...(engines.length > 2 ? replicas : []),
    ],
  };
}
