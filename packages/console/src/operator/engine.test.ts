import { describe, expect, it } from 'vitest';
import { faultsOf, sortReplicas, summarizeEngine } from './engine.ts';
import type { Replica } from './operator-api.ts';

type State = NonNullable<Replica['state']>;

const healthy: State = {
  version: '26.8',
  uptime_seconds: 60,
  parts: { active: 1, rows: 1, bytes: 1 },
  mutations: { unfinished: 0, oldest_seconds: null, latest_failure: null },
  disks: [{ name: 'default', free_bytes: 50, total_bytes: 100 }],
  replication: { read_only: false, keeper_session: 'active', delay_seconds: 0, queued_tasks: 0 },
};

function replica(shard: number, number: number, changes: Partial<State> | null = {}): Replica {
  return {
    shard,
    replica: number,
    url: 'http://127.0.0.1',
    reachable: changes !== null,
    problem: changes === null ? 'connect ECONNREFUSED' : null,
    state: changes && { ...healthy, ...changes },
  };
}

const failing = { mutations: { unfinished: 1, oldest_seconds: 9, latest_failure: 'Code: 1' } };
const readOnly = {
  replication: { read_only: true, keeper_session: 'expired', delay_seconds: 301, queued_tasks: 0 },
} as const;

describe('a replica', () => {
  it('without faults has none', () => {
    expect(faultsOf(replica(1, 1))).toEqual([]);
  });

  it('that does not respond is unreachable, and the reason is shown', () => {
    expect(faultsOf(replica(1, 1, null))).toEqual([
      { severity: 'critical', text: 'Unreachable', detail: 'connect ECONNREFUSED' },
    ]);
  });

  it('lists every fault, worst first', () => {
    const disks = [{ name: 'default', free_bytes: 9, total_bytes: 100 }];
    const faults = faultsOf(replica(1, 1, { ...readOnly, ...failing, disks }));
    expect(faults.map(({ text }) => text)).toEqual([
      'Read-only',
      'Session expired',
      'Mutation fails',
      'Behind',
      'Disk full',
    ]);
  });
});

it('lists replicas with critical faults first, then other faults, then by shard', () => {
  const sorted = sortReplicas([replica(2, 1), replica(1, 2), replica(1, 1, failing), replica(2, 2, null)]);
  expect(sorted.map((one) => `${one.shard}.${one.replica}`)).toEqual(['2.2', '1.1', '1.2', '2.1']);
});

describe('the summary of the engine', () => {
  it('says that all replicas are working', () => {
    expect(summarizeEngine([replica(1, 1), replica(2, 1)])).toBe('All replicas are working (2 shards, 2 replicas).');
  });

  it('counts unreachable replicas and replicas with faults', () => {
    expect(summarizeEngine([replica(1, 1), replica(1, 2, null), replica(1, 3, failing)])).toBe(
      '1 replica unreachable, 1 replica with faults (1 shard, 3 replicas).',
    );
  });

  it('names a shard that has no reachable replica', () => {
    expect(summarizeEngine([replica(1, 1), replica(2, 1, null), replica(2, 2, null)])).toBe(
      'Loads and reports are waiting: no replica of shard 2 is reachable.',
    );
  });
});
