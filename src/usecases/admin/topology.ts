import { Failure } from '../../domain/failure.ts';
import { type ShardRecord, findLoadIdDifferences, findTopologyDifferences } from '../../domain/topology.ts';
import type { Log } from '../../ports/observability.ts';
import type { EngineTopology, TopologyStore } from '../../ports/topology.ts';

export type TopologyDeps = { readonly topology: TopologyStore; readonly engineTopology: EngineTopology };

/** Returns the differences between the record, the configuration, and the cluster definition on each server. */
export async function checkTopology({ topology, engineTopology }: TopologyDeps): Promise<string[]> {
  const [recorded, servers] = await Promise.all([topology.read(), engineTopology.observe()]);
  return findTopologyDifferences(recorded, servers, engineTopology.configured);
}

/**
 * Returns the differences between the load IDs in PostgreSQL and ClickHouse. Reads ClickHouse first, because a load
 * gets its ID before it writes rows.
 */
export async function checkLoadIds({ topology, engineTopology }: TopologyDeps): Promise<string[]> {
  const highestStored = await engineTopology.findHighestLoadId();
  return findLoadIdDifferences(await topology.readLastLoadId(), highestStored);
}

/**
 * Returns the differences that prevent loading. Compares the topology, then the schema of the shards, then the load
 * IDs. Each comparison is possible only if the previous one found no difference.
 */
export async function checkInstallation(deps: TopologyDeps): Promise<readonly string[]> {
  const topology = await checkTopology(deps);
  if (topology.length > 0) return topology;
  const schema = await deps.engineTopology.findSchemaDifferences();
  return schema.length > 0 ? schema : checkLoadIds(deps);
}

/** Throws `topology_mismatch` with every difference. For operator commands, whose output the operator sees. */
export async function requireRecordedTopology(deps: TopologyDeps): Promise<void> {
  throwDifferences(await checkTopology(deps));
}

/**
 * Throws if a shard has an identity although nothing is recorded. The shard's database then belongs to another
 * installation, which uses the same IDs for its own partners, jobs, and loads.
 */
export async function requireUnownedShards({ engineTopology }: Pick<TopologyDeps, 'engineTopology'>): Promise<void> {
  const servers = await engineTopology.observe();
  const owned = servers.find(({ identity }) => identity !== null);
  if (!owned) return;
  throw new Failure(
    'topology_mismatch',
    `The ClickHouse database of shard ${owned.shard} belongs to another installation, because PostgreSQL has no record of it. Use another INLET_CLICKHOUSE_DATABASE, or fix INLET_POSTGRES_URL. If the first migration of this installation was interrupted, run \`inlet topology change --confirm\`.`,
  );
}

/**
 * Returns the shards that the first configured server reaches. Every shard must already have an identity. Throws if the
 * configured servers do not agree with each other.
 */
export async function observeShards({ engineTopology }: Pick<TopologyDeps, 'engineTopology'>): Promise<ShardRecord[]> {
  const servers = await engineTopology.observe();
  const shards = (servers[0]?.cluster ?? []).flatMap(({ number, identity, weight }) =>
    identity === null ? [] : [{ number, identity, weight }],
  );
  if (shards.length === 0) {
    const problem = servers[0]?.problem ?? 'it has no shards';
    throw new Failure('topology_mismatch', `Cluster "${engineTopology.configured.name}" cannot be used: ${problem}.`);
  }
  throwDifferences(findTopologyDifferences(shards, servers, engineTopology.configured));
  return shards;
}

export async function recordTopology(deps: TopologyDeps): Promise<void> {
  await deps.topology.record(await observeShards(deps));
}

/** Throws `topology_mismatch` if the last check found a difference. If that check is too old, checks again first. */
export type RequireTopology = () => Promise<void>;

type GuardDeps = TopologyDeps & { readonly log: Log; readonly recordTopology: (hasDifferences: boolean) => void };

/** Checks the topology at most once per interval, for all callers in this process. */
export function topologyGuard(deps: GuardDeps, intervalMs: number): RequireTopology {
  let last: { readonly at: number; readonly differences: readonly string[] } | null = null;
  let running: Promise<void> | null = null;
  const check = async (): Promise<void> => {
    const differences = await checkInstallation(deps);
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
    // API callers can see this text. The differences are only in the log.
    throw new Failure('topology_mismatch', 'The shards differ from the recorded topology.');
  };
}

/** Returns null if the topology is unknown because a server is unavailable. */
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
