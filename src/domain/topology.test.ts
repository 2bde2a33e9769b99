import { describe, expect, it } from 'vitest';
import { type ObservedServer, type ShardRecord, findLoadIdDifferences, findTopologyDifferences } from './topology.ts';

const recorded: readonly ShardRecord[] = [
  { number: 1, identity: 'a', weight: 1 },
  { number: 2, identity: 'b', weight: 1 },
];
const cluster = recorded.map((shard) => ({ ...shard, replicas: 1, isInternallyReplicated: true }));
const server = (identity: string | null, changes: Partial<ObservedServer> = {}): ObservedServer => ({
  shard: 0,
  replica: 1,
  names: [`server-of-${identity ?? 'nothing'}`],
  identity,
  keeperPath: null,
  cluster,
  clustersOfTables: ['inlet'],
  problem: null,
  ...changes,
});
const good = [server('a'), server('b')];
/** Returns the differences for a cluster without replicas. */
const differences = (servers: readonly ObservedServer[]): string[] =>
  findTopologyDifferences(
    recorded,
    servers.map((one, index) => ({ ...one, shard: index + 1 })),
    { name: 'inlet', replicas: servers.map(() => 1) },
  );

describe('comparing the topology', () => {
  it('finds no difference in a cluster that matches its record', () => {
    expect(differences(good)).toEqual([]);
  });

  it('reports that nothing is recorded', () => {
    expect(findTopologyDifferences([], good, { name: 'inlet', replicas: [1, 1] })).toEqual([
      'No topology is recorded.',
    ]);
  });

  it.each<[string, ObservedServer[], RegExp]>([
    ['a missing shard', [server('a')], /lists 1 shards, but 2 are recorded/],
    ['an extra shard', [...good, server('c')], /lists 3 shards, but 2 are recorded/],
    ['swapped shards', [server('b'), server('a')], /URL 1 .* leads to shard 2\./],
    ['another server', [server('a'), server('z')], /URL 2 .* leads to an unknown shard\./],
    ['an empty database', [server('a'), server(null)], /URL 2 .* without a shard identity/],
    ['the same server twice', [server('a'), server('a')], /URL 2 .* leads to shard 1\./],
    [
      'a changed weight',
      [
        server('a', {
          cluster: [
            { number: 1, identity: 'a', weight: 3, replicas: 1, isInternallyReplicated: true },
            ...cluster.slice(1),
          ],
        }),
        server('b'),
      ],
      /On shard 1, cluster "inlet" is \[1: a \(weight 3\), 2: b \(weight 1\)\]/,
    ],
    [
      'a cluster definition that lacks a shard on one server',
      [server('a'), server('b', { cluster: cluster.slice(0, 1) })],
      /On shard 2, cluster "inlet" is \[1: a \(weight 1\)\]/,
    ],
    ['tables of another cluster', [server('a', { clustersOfTables: ['old'] }), server('b')], /use cluster "old"/],
    ['an unreadable cluster', [server('a', { problem: 'no such cluster' }), server('b')], /no such cluster/],
  ])('reports %s', (_what, servers, expected) => {
    expect(differences(servers).join('\n')).toMatch(expected);
  });
});

describe('comparing the topology of replicas', () => {
  const ofReplicas = cluster.map((shard) => ({ ...shard, replicas: 2 }));
  const replica = (identity: string, shard: number, number: number, changes: Partial<ObservedServer> = {}) =>
    server(identity, {
      shard,
      replica: number,
      names: [`${identity}${number}`],
      keeperPath: `/inlet/${identity}`,
      cluster: ofReplicas,
      ...changes,
    });
  const [a1, a2, b1, b2] = [replica('a', 1, 1), replica('a', 1, 2), replica('b', 2, 1), replica('b', 2, 2)];
  const differencesOf = (servers: readonly ObservedServer[], replicas: readonly number[] = [2, 2]): string =>
    findTopologyDifferences(recorded, servers, { name: 'inlet', replicas }).join('\n');

  it('finds no difference if every replica is available', () => {
    expect(differencesOf([a1, a2, b1, b2])).toBe('');
  });

  it('finds no difference if one replica of each shard is unavailable', () => {
    expect(differencesOf([a2, b1])).toBe('');
  });

  it.each<[string, ObservedServer[], readonly number[], RegExp]>([
    ['a load balancer', [replica('a', 1, 1, { names: ['a1', 'a2'] }), b1], [2, 2], /different servers \(a1, a2\)/],
    ['one server for a replicated shard', [a1, b1, b2], [1, 2], /has 2 replicas of this shard, but .* lists 1/],
    ['a server that is listed twice', [a1, replica('a', 1, 2, { names: ['a1'] }), b1], [2, 2], /the same server/],
    [
      'swapped replicas',
      [a1, replica('b', 1, 2), b1, replica('a', 2, 2)],
      [2, 2],
      /URL 1, replica 2, .* leads to shard 2/,
    ],
    [
      'a replica of another cluster',
      [a1, replica('a', 1, 2, { keeperPath: '/inlet/other' }), b1],
      [2, 2],
      /servers of shard 1 are not replicas of each other/,
    ],
    [
      'a cluster without internal replication',
      [replica('a', 1, 1, { cluster: ofReplicas.map((shard) => ({ ...shard, isInternallyReplicated: false })) }), b1],
      [2, 2],
      /lacks <internal_replication>/,
    ],
    [
      'servers without replication',
      [replica('a', 1, 1, { keeperPath: null }), replica('a', 1, 2, { keeperPath: null }), b1],
      [2, 2],
      /servers of shard 1 are not replicas/,
    ],
  ])('reports %s', (_what, servers, replicas, expected) => {
    expect(differencesOf(servers, replicas)).toMatch(expected);
  });
});

describe('comparing the load IDs', () => {
  it('finds no difference if PostgreSQL has assigned every load that ClickHouse contains', () => {
    expect(findLoadIdDifferences(7, 0)).toEqual([]);
    expect(findLoadIdDifferences(7, 7)).toEqual([]);
  });

  it('reports a load that PostgreSQL has not assigned yet', () => {
    expect(findLoadIdDifferences(7, 8).join()).toMatch(/up to 7, but ClickHouse contains load 8/);
  });
});
