import { describe, expect, it } from 'vitest';
import { type ObservedServer, type ShardRecord, findLoadIdDifferences, findTopologyDifferences } from './topology.ts';

const recorded: readonly ShardRecord[] = [
  { number: 1, identity: 'a', weight: 1 },
  { number: 2, identity: 'b', weight: 1 },
];
const server = (identity: string | null, changes: Partial<ObservedServer> = {}): ObservedServer => ({
  identity,
  cluster: recorded,
  clustersOfTables: ['inlet'],
  problem: null,
  ...changes,
});
const good = [server('a'), server('b')];
const differences = (servers: readonly ObservedServer[]): string[] =>
  findTopologyDifferences(recorded, servers, 'inlet');

describe('comparing the topology', () => {
  it('finds no difference in a cluster that matches its record', () => {
    expect(differences(good)).toEqual([]);
  });

  it('reports that nothing is recorded', () => {
    expect(findTopologyDifferences([], good, 'inlet')).toEqual(['No topology is recorded.']);
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
      [server('a', { cluster: [{ number: 1, identity: 'a', weight: 3 }, ...recorded.slice(1)] }), server('b')],
      /On shard 1, cluster "inlet" is \[1: a \(weight 3\), 2: b \(weight 1\)\]/,
    ],
    [
      'a cluster definition that lacks a shard on one server',
      [server('a'), server('b', { cluster: recorded.slice(0, 1) })],
      /On shard 2, cluster "inlet" is \[1: a \(weight 1\)\]/,
    ],
    ['tables of another cluster', [server('a', { clustersOfTables: ['old'] }), server('b')], /use cluster "old"/],
    ['an unreadable cluster', [server('a', { problem: 'no such cluster' }), server('b')], /no such cluster/],
  ])('reports %s', (_what, servers, expected) => {
    expect(differences(servers).join('\n')).toMatch(expected);
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
