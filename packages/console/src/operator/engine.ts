import { formatDuration, formatPercent } from '../format.ts';
import type { Replica } from './operator-api.ts';

/** The alert InletReplicaBehind has the same threshold. */
const behindSeconds = 300;

/** Alerts fire below this share of free space. */
const leastFreeShare = 0.1;

/** The incident page has an entry for each. */
type FaultText = 'Unreachable' | 'Read-only' | 'Session expired' | 'Mutation fails' | 'Behind' | 'Disk full';

export type Fault = {
  readonly severity: 'critical' | 'warning';
  readonly text: FaultText;
  readonly detail: string | null;
};

/** The faults of a replica, worst first. */
export function faultsOf({ state, problem }: Replica): readonly Fault[] {
  if (!state) return [{ severity: 'critical', text: 'Unreachable', detail: problem }];
  const { replication, mutations, disks } = state;
  const faults: (Fault | false)[] = [
    replication?.read_only === true && { severity: 'critical', text: 'Read-only', detail: 'Tables are read-only.' },
    replication?.keeper_session === 'expired' && {
      severity: 'critical',
      text: 'Session expired',
      detail: 'The session with ClickHouse Keeper has expired.',
    },
    mutations.latest_failure !== null && {
      severity: 'warning',
      text: 'Mutation fails',
      detail: mutations.latest_failure,
    },
    replication !== null &&
      replication.delay_seconds > behindSeconds && {
        severity: 'warning',
        text: 'Behind',
        detail: `The replica is ${formatDuration(replication.delay_seconds)} behind.`,
      },
    ...disks
      .filter((disk) => disk.total_bytes > 0 && disk.free_bytes / disk.total_bytes < leastFreeShare)
      .map((disk): Fault => ({
        severity: 'warning',
        text: 'Disk full',
        detail: `Disk ${disk.name} has ${formatPercent(disk.free_bytes / disk.total_bytes)} free.`,
      })),
  ];
  return faults.filter((fault) => fault !== false);
}

/** Replicas with critical faults first, then those with other faults, then by shard. */
export function sortReplicas(replicas: readonly Replica[]): Replica[] {
  const rank = (replica: Replica): number => {
    const [worst] = faultsOf(replica);
    return worst === undefined ? 2 : worst.severity === 'critical' ? 0 : 1;
  };
  return replicas.toSorted(
    (one, other) => rank(one) - rank(other) || one.shard - other.shard || one.replica - other.replica,
  );
}

export function nameOf({ shard, replica }: Replica): string {
  return `Shard ${shard}, replica ${replica}`;
}

/** The state of all replicas in one sentence. */
export function summarizeEngine(replicas: readonly Replica[]): string {
  const unreachable = replicas.filter(({ reachable }) => !reachable);
  const shards = new Set(replicas.map(({ shard }) => shard));
  const lost = [...shards].filter((shard) => replicas.every((one) => one.shard !== shard || !one.reachable));
  const faulty = replicas.filter((replica) => replica.reachable && faultsOf(replica).length > 0);
  const size = `${count(shards.size, 'shard')}, ${count(replicas.length, 'replica')}`;
  if (lost.length > 0) {
    return `Loads and reports are waiting: no replica of ${lost.length === 1 ? 'shard' : 'shards'} ${lost.join(', ')} is reachable.`;
  }
  const parts = [
    unreachable.length > 0 && `${count(unreachable.length, 'replica')} unreachable`,
    faulty.length > 0 && `${count(faulty.length, 'replica')} with faults`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? `All replicas are working (${size}).` : `${parts.join(', ')} (${size}).`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
