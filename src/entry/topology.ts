import type { Client } from 'pg';
import type { Engine } from '../adapters/clickhouse/connect.ts';
import { assignShardIdentities, countMisplacedRows } from '../adapters/clickhouse/topology.ts';
import { underMigrationLock } from '../adapters/postgres/db/migration-lock.ts';
import { selectQueueStats } from '../adapters/postgres/queue/queue-stats.ts';
import { Failure } from '../domain/failure.ts';
import type { ShardRecord } from '../domain/topology.ts';
import { type TopologyDeps, checkInstallation, observeShards } from '../usecases/admin/topology.ts';
import { readConfig } from './config.ts';
import { withTopology } from './connect-engine.ts';
import { createLogger } from './logging.ts';
import { migrateShards } from './migrate.ts';
import { syncUsedList } from './suppression.ts';

const log = createLogger({ name: 'inlet-topology', level: 'silent' });

export async function describeTopology(): Promise<{ shards: readonly ShardRecord[]; differences: readonly string[] }> {
  return withTopology(readConfig(), log, async (deps) => ({
    shards: await deps.topology.read(),
    differences: await checkInstallation(deps),
  }));
}

type Change = { readonly isConfirmed: boolean; readonly acceptsLostShards: boolean };

/**
 * Inlet does not move rows between shards. A change is therefore recorded only if every row stays where it is. If a
 * shard is no longer configured, its rows are lost, which the operator must accept explicitly.
 */
export async function changeTopology({ isConfirmed, acceptsLostShards }: Change): Promise<string> {
  const config = readConfig();
  const change = async (
    client: Client,
    { engine, ...deps }: TopologyDeps & { readonly engine: Engine },
  ): Promise<string> => {
    const recorded = await deps.topology.read();
    if (isConfirmed) {
      if ((await hasPlainShards(deps)) && (await selectQueueStats(client)).workers > 0) {
        const detail = 'The tables of a shard must be replicated. Stop all workers, and run the command again.';
        throw new Failure('topology_mismatch', detail);
      }
      await migrateShards(config, { replicatesTables: true });
      await assignShardIdentities(engine);
    }
    const servers = await deps.engineTopology.observe();
    const hasOthers = (shard: number): boolean => servers.some((one) => one.shard === shard && one.identity !== null);
    const added = servers.filter(({ shard, identity }) => identity === null && hasOthers(shard));
    if (added.length > 0 && !isConfirmed) {
      const names = added.map(({ shard, replica }) => `replica ${replica} of shard ${shard}`);
      return `New: ${names.join(', ')}. A new replica copies all rows of its shard. If the shard has had only one replica so far, its tables are replaced with replicated tables that link the same files. In this case, stop all workers first.\nNothing was changed. Run the command with --confirm to add them.`;
    }
    const shards = await observeShards(deps);
    const lost = recorded.filter(({ identity }) => !shards.some((shard) => shard.identity === identity));
    const { rows, misplaced } = await countMisplacedRows(
      engine,
      shards.map(({ weight }) => weight),
    );
    const text = [
      'Recorded:',
      ...recorded.map(describeShard),
      'Configured:',
      ...shards.map(describeShard),
      `${misplaced} of ${rows} rows on the configured shards would be on the wrong shard.`,
      ...lost.map(({ number }) => `Shard ${number} is no longer configured. Its rows would be lost.`),
    ].join('\n');
    if (misplaced > 0) throw refused(text, 'Restore the previous cluster, or load the data into a new installation.');
    if (lost.length > 0 && !acceptsLostShards)
      throw refused(text, 'To accept the loss of these rows, pass --accept-lost-shards.');
    if (!isConfirmed) return `${text}\nNothing was changed. Run the command with --confirm to record the change.`;
    await deps.topology.record(shards);
    return `${text}\nThe new topology is recorded. Loads continue within INLET_TOPOLOGY_SECONDS.`;
  };
  const text = await underMigrationLock(config.INLET_POSTGRES_URL, (client) =>
    withTopology(config, log, (deps) => change(client, deps)),
  );
  if (isConfirmed) await syncUsedList(config);
  return text;
}

/** Whether a shard with several replicas has tables that are not replicated. */
async function hasPlainShards({ engineTopology }: TopologyDeps): Promise<boolean> {
  const servers = await engineTopology.observe();
  return servers.some(
    ({ shard, identity, keeperPath }) =>
      identity !== null && keeperPath === null && (engineTopology.configured.replicas[shard - 1] ?? 1) > 1,
  );
}

function refused(text: string, remedy: string): Failure {
  return new Failure('topology_mismatch', `${text}\nThe change is refused. ${remedy}`);
}

function describeShard({ number, identity, weight }: ShardRecord): string {
  return `shard ${number}: ${identity}, weight ${weight}`;
}
