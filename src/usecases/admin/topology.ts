import { Failure } from '../../domain/failure.ts';
import { type ShardRecord, findTopologyDifferences } from '../../domain/topology.ts';
import type { Log } from '../../ports/observability.ts';
import type { EngineTopology, TopologyStore } from '../../ports/topology.ts';

export type TopologyDeps = { readonly topology: TopologyStore; readonly engineTopology: EngineTopology };

/** Returns the differences between the record, the configuration, and the cluster definition on each server. */
export async function checkTopology({ topology, engineTopology }: TopologyDeps): Promise<string[]> {
  const [recorded, servers] = await Promise.all([topology.read(), engineTopology.observe()]);
  return findTopologyDifferences(recorded, servers, engineTopology.cluster);
}

/** Throws `topology_mismatch` with every difference. For operator commands, whose output the operator sees. */
export async function requireRecordedTopology(deps: TopologyDeps): Promise<void> {
  throwDifferences(await checkTopology(deps));
}

/**
 * Returns the shards that the first configured server reaches. The caller has given every shard an identity. Throws if the
 * configured servers do not agree with each other.
 */
export async function observeShards({ engineTopology }: Pick<TopologyDeps, 'engineTopology'>): Promise<ShardRecord[]> {
  const servers = await engineTopology.observe();
  const shards = (servers[0]?.cluster ?? []).flatMap(({ number, identity, weight }) =>
    identity === null ? [] : [{ number, identity, weight }],
  );
  if (shards.length === 0) {
    const problem = servers[0]?.problem ?? 'it has no shards';
    throw new Failure('topology_mismatch', `Cluster "${engineTopology.cluster}" cannot be used: ${problem}.`);
  }
  throwDifferences(findTopologyDifferences(shards, servers, engineTopology.cluster));
  return shards;
}

export async function recordTopology(deps: TopologyDeps): Promise<void> {
  await deps.topology.record(await observeShards(deps));
}

/** Throws `topology_mismatch` if the last check found a difference. Checks again when that check is too old. */
export type RequireTopology = () => Promise<void>;

type GuardDeps = TopologyDeps & { readonly log: Log; readonly recordTopology: (hasDifferences: boolean) => void };

/** Checks the topology at most once per interval, for all callers in this process. */
export function topologyGuard(deps: GuardDeps, intervalMs: number): RequireTopology {
  let last: { readonly at: number; readonly differences: readonly string[] } | null = null;
  let running: Promise<void> | null = null;
  const check = async (): Promise<void> => {
    const differences = await checkTopology(deps);
    if (differences.length > 0) deps.log.error({ differences }, 'topology mismatch: loads are stopped');
    else if (last !== null && last.differences.length > 0) deps.log.info({}, 'topology matches again');
    deps.recordTopology(differences.length > 0);
    last = { at: performance.now(), differences };
  };
  return async () => {
    if (last === null || performance.now() - last.at >= intervalMs) {
      running ??= check().finally(() => {
        running = null;
      });
      await running;
    }
    if (last === null || last.differences.length === 0) return;
    // A caller of the API can see this text. The log contains the differences.
    throw new Failure('topology_mismatch', 'The shards differ from the recorded topology.');
  };
}

/** Returns null if a server is unavailable, so that the topology is unknown. */
export async function matchesTopology(requireTopology: RequireTopology): Promise<boolean | null> {
  try {
    await requireTopology();
    return true;
  } catch (error) {
    return error instanceof Failure && error.code === 'topology_mismatch' ? false : null;
  }
}

function throwDifferences(differences: readonly string[]): void {
  if (differences.length > 0) throw new Failure('topology_mismatch', differences.join(' '));
}
