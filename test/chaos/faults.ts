import { setTimeout as pause } from 'node:timers/promises';
import { type ServerName, signalServer, startServers } from '../fault/real-servers.ts';
import type { TestCluster } from '../fault/test-cluster.ts';
import { type Proxy, type Trouble, slowDown } from '../support/proxy.ts';
import type { ServiceProcess } from '../support/running-service.ts';

/** One thing that goes wrong, and is over when it resolves. */
export type Fault = {
  readonly name: string;
  /** How often it is chosen, among the others. */
  readonly weight: number;
  readonly kills: number;
  readonly happen: () => Promise<void>;
};

export type Faults = {
  readonly list: readonly Fault[];
  /** Processes that ended and that nobody ended, or that did not come back. */
  readonly unexpected: string[];
  /** When every process that was ended has another in its place. */
  readonly allAreBack: () => Promise<void>;
};

/** So often whoever looks after the processes starts one that ends at its start, because a server is away. */
const mostStarts = 60;

export function faultsOf(cluster: TestCluster, pick: (most: number) => number): Faults {
  const { proxies } = cluster;
  const unexpected: string[] = [];
  /** Those that were told to end, and those that were seen to. */
  const told = new Set<ServiceProcess>();
  const watch = (one: ServiceProcess): void => {
    one.child.once('exit', (code, signal) => {
      if (!told.has(one)) unexpected.push(`${one.logFile}: ended by itself, ${signal ?? code}`);
    });
  };
  for (const one of [...cluster.apis, ...cluster.workers]) watch(one);

  const one = <T extends ServiceProcess>(set: ReadonlySet<T>): T | undefined => [...set][pick(set.size)];
  const seconds = (least: number, most: number): Promise<void> =>
    pause(1000 * (least + pick(10 * (most - least)) / 10));

  const onTheirWay = new Set<Promise<void>>();
  /** As a supervisor would: again and again, while other things happen. */
  const startAnother = (start: () => Promise<ServiceProcess>): void => {
    const starting = (async () => {
      for (let n = 0; n < mostStarts; n++) {
        try {
          watch(await start());
          return;
        } catch {
          await pause(1_000);
        }
      }
      unexpected.push('a process did not come back');
    })();
    onTheirWay.add(starting);
    void starting.then(() => onTheirWay.delete(starting));
  };
  const endWorker = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    while (cluster.workers.size < 2) await pause(100);
    const victim = one(cluster.workers);
    if (!victim) return;
    told.add(victim);
    cluster.workers.delete(victim);
    victim.child.kill(signal);
    startAnother(cluster.addWorker);
  };
  const killApi = async (): Promise<void> => {
    while (cluster.apis.size < 2) await pause(100);
    const victim = one(cluster.apis);
    if (!victim) return;
    told.add(victim);
    cluster.apis.delete(victim);
    victim.child.kill('SIGKILL');
    startAnother(cluster.addApi);
  };
  const stopAndContinue = async (): Promise<void> => {
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
  const standStill = (name: ServerName): Fault => ({
    name: `${name} stands still`,
    weight: 1,
    kills: 0,
    happen: async () => {
      signalServer(name, 'SIGSTOP');
      await seconds(3, 12);
      signalServer(name, 'SIGCONT');
    },
  });
  const engines = proxies.engine;
  return {
    unexpected,
    allAreBack: async () => void (await Promise.all(onTheirWay)),
    list: [
      { name: 'worker killed', weight: 50, kills: 1, happen: () => endWorker('SIGKILL') },
      { name: 'worker told to stop', weight: 8, kills: 0, happen: () => endWorker('SIGTERM') },
      { name: 'worker stands still', weight: 6, kills: 0, happen: stopAndContinue },
      { name: 'api killed', weight: 14, kills: 1, happen: killApi },
      trouble('PostgreSQL cut off', 3, [proxies.postgres], { is: 'cut' }, 4),
      trouble('engine cut off', 3, engines, { is: 'cut' }, 4),
      trouble('a shard cut off', 3, engines.slice(1), { is: 'cut' }, 4),
      trouble('storage cut off', 3, [proxies.storage], { is: 'cut' }, 4),
      trouble('PostgreSQL stalled', 1, [proxies.postgres], { is: 'stalled' }, 10),
      trouble('engine stalled', 1, engines, { is: 'stalled' }, 15),
      trouble('storage stalled', 1, [proxies.storage], { is: 'stalled' }, 15),
      trouble('storage slow', 2, [proxies.storage], { is: 'slow', bytesPerSecond: 20_000 }, 8),
      trouble('storage breaks off', 3, [proxies.storage], { is: 'truncated', afterBytes: 700 }, 5),
      trouble('storage says SlowDown', 2, [proxies.storage], slowDown, 5),
      killServers(3, 'shard 1'),
      killServers(3, 'shard 2'),
      killServers(2, 'shard 1', 'shard 2'),
      killServers(3, 'PostgreSQL'),
      killServers(3, 'S3 gateway'),
      standStill('shard 1'),
      standStill('S3 gateway'),
    ],
  };
}
