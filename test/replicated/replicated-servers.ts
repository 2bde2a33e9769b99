import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Server, selectRows } from '../../src/adapters/clickhouse/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { type StackAddresses, stackAddressesSchema } from '../../stack/addresses.ts';
import { isAlive } from '../support/is-alive.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { waitUntil } from '../support/wait-until.ts';

// Starts two shards with two replicas each, ZooKeeper, and PostgreSQL, all empty.

export type Replica = { readonly url: Secret; readonly pid: number };

export type ReplicatedServers = {
  /** The replicas of each shard. */
  readonly shards: readonly (readonly Replica[])[];
  readonly cluster: string;
  readonly zookeeperPids: readonly number[];
  /** Contains each server's data, for example in `clickhouse-3` for the second replica of the first shard. */
  readonly directory: string;
  /** Restarts the servers that have exited, with the same data and ports. */
  readonly startAgain: () => Promise<ReplicatedServers>;
  readonly stop: () => Promise<void>;
};

const execute = promisify(execFile);

export async function startReplicatedServers(
  directory = `/var/tmp/inlet-replicated-${process.pid}`,
): Promise<ReplicatedServers> {
  const command = async (...what: string[]): Promise<string> => {
    const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', INLET_STACK_DIR: directory };
    return (await execute(process.execPath, ['stack/cli/stores.ts', ...what], { env })).stdout;
  };
  const { clickhouse, postgres } = stackAddressesSchema.parse(JSON.parse(await command('up', '--replicas', '2')));
  const [first] = clickhouse.shards;
  if (clickhouse.clusters.replicated === undefined || !first) throw new Error('no replicas');
  rememberSecrets(new URL(postgres.url).password, new URL(first.httpUrl).password);
  const replica = ({ httpUrl, pid }: StackAddresses['clickhouse']['shards'][number]): Replica => ({
    url: new Secret(httpUrl),
    pid,
  });
  return {
    shards: clickhouse.shards.map((one, index) =>
      [one, ...clickhouse.secondReplicas.slice(index, index + 1)].map(replica),
    ),
    cluster: clickhouse.clusters.replicated,
    directory,
    zookeeperPids: clickhouse.zookeepers.map(({ pid }) => pid),
    startAgain: () => startReplicatedServers(directory),
    stop: async () => void (await command('down')),
  };
}

/** Returns both replicas of a shard. `index` counts from 0. */
export function replicasOf({ shards }: ReplicatedServers, index: number): [Replica, Replica] {
  const [first, second] = shards[index] ?? [];
  if (!first || !second) throw new Error(`shard ${index + 1} has no replicas`);
  return [first, second];
}

/** The settings that migrations and connections need. */
export function engineSettings(
  { shards, cluster }: ReplicatedServers,
  database: string,
): { readonly shards: readonly (readonly Secret[])[]; readonly database: string; readonly cluster: string } {
  return { shards: shards.map((replicas) => replicas.map(({ url }) => url)), database, cluster };
}

/** Repeats a step that fails while a server is unavailable, as workers do. */
export async function untilItSucceeds<T>(run: () => Promise<T>): Promise<T> {
  let result: { readonly value: T } | undefined;
  await waitUntil(
    'the statement succeeds',
    async () => {
      result = await run().then(
        (value) => ({ value }),
        () => undefined,
      );
      return result !== undefined;
    },
    60,
  );
  if (!result) throw new Error('no result');
  return result.value;
}

export async function killReplica({ pid }: Replica): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await waitUntil('the process has ended', () => Promise.resolve(!isAlive(pid)));
}

/** Runs statements on one replica. */
async function onReplica<T>({ url }: Replica, run: (client: Server) => Promise<T>, database = 'default'): Promise<T> {
  const client = createClient({ url: url.reveal(), database, log: { level: ClickHouseLogLevel.OFF } });
  try {
    return await run(client);
  } finally {
    await client.close();
  }
}

export function commandOn(replica: Replica, query: string, database?: string): Promise<unknown> {
  return onReplica(replica, (client) => client.command({ query }), database);
}

/** Returns the first column of all rows, as text. */
export async function selectOn(replica: Replica, query: string, database?: string): Promise<string[]> {
  const rows = await onReplica(replica, (client) => selectRows<Record<string, unknown>>(client, query), database);
  return rows.map((row) => String(Object.values(row)[0]));
}
