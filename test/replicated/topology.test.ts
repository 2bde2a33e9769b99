import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeEngine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { assignShardIdentities, clickhouseTopology } from '../../src/adapters/clickhouse/topology.ts';
import { migrationFolder } from '../../src/adapters/migration-files.ts';
import { Secret } from '../../src/domain/secret.ts';
import { type ShardRecord, findTopologyDifferences } from '../../src/domain/topology.ts';
import { type ReplicatedServers, killReplica, replicasOf, startReplicatedServers } from './replicated-servers.ts';

/** Forwards each connection to the next server. */
async function startLoadBalancer(targets: readonly Secret[]): Promise<{ url: Secret; close: () => void }> {
  let next = 0;
  const server = createServer((socket) => {
    const target = new URL(targets[next++ % targets.length]?.reveal() ?? '');
    const upstream = connect(Number(target.port), target.hostname);
    for (const one of [socket, upstream]) one.on('error', () => one.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = new URL(targets[0]?.reveal() ?? '');
  url.port = String(address.port);
  return { url: new Secret(url.href), close: () => server.close() };
}

describe('the topology of replicated shards', () => {
  let servers: ReplicatedServers;
  let recorded: readonly ShardRecord[] = [];
  const database = 'topology';
  const urls = (): Secret[][] => servers.shards.map((replicas) => replicas.map(({ url }) => url));

  const differencesOf = async (shards: readonly (readonly Secret[])[]): Promise<string> => {
    const engine = connectEngine({ shards, database, cluster: servers.cluster, name: 'test' });
    try {
      const topology = clickhouseTopology(engine, migrationFolder('clickhouse'));
      const observed = await topology.observe();
      return findTopologyDifferences(recorded, observed, topology.configured).join('\n');
    } finally {
      await closeEngine(engine);
    }
  };

  beforeAll(async () => {
    servers = await startReplicatedServers();
    const { cluster } = servers;
    await migrateEngine({ shards: urls(), database, cluster, folder: 'migrations/clickhouse' });
    const engine = connectEngine({ shards: urls(), database, cluster, name: 'test' });
    await assignShardIdentities(engine);
    const [first] = await clickhouseTopology(engine, migrationFolder('clickhouse')).observe();
    recorded = (first?.cluster ?? []).map(({ number, weight, identity }) => ({
      number,
      weight,
      identity: identity ?? '',
    }));
    await closeEngine(engine);
  });
  afterAll(() => servers.stop());

  it('matches its record', async () => {
    expect(recorded).toHaveLength(2);
    expect(await differencesOf(urls())).toBe('');
  });

  it('does not allow a load balancer in front of the replicas', async () => {
    const [first = [], second = []] = urls();
    const balancer = await startLoadBalancer(first);
    try {
      expect(await differencesOf([[balancer.url], second])).toMatch(/URL 1 .* leads to different servers/);
      expect(await differencesOf([[balancer.url, balancer.url], second])).toMatch(/leads to different servers/);
    } finally {
      balancer.close();
    }
  });

  it('does not allow replicas in the lists of other shards', async () => {
    const [[a1, a2] = [], [b1, b2] = []] = urls();
    const swapped = [[a1, b2].flatMap((url) => url ?? []), [b1, a2].flatMap((url) => url ?? [])];
    expect(await differencesOf(swapped)).toMatch(/URL 1, replica 2, .* leads to shard 2/);
  });

  it('does not allow fewer replicas than the cluster has', async () => {
    const [first = [], second = []] = urls();
    expect(await differencesOf([first.slice(0, 1), second])).toMatch(/has 2 replicas of this shard, but .* lists 1/);
  });

  it('matches its record while a replica is unavailable', async () => {
    await killReplica(replicasOf(servers, 1)[1]);
    expect(await differencesOf(urls())).toBe('');
  });
});
