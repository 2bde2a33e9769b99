import type { Engine } from '../adapters/clickhouse/connect.ts';
import { assignShardIdentities, countMisplacedRows } from '../adapters/clickhouse/topology.ts';
import { underMigrationLock } from '../adapters/postgres/db/migrate.ts';
import { Failure } from '../domain/failure.ts';
import type { ShardRecord } from '../domain/topology.ts';
import { type TopologyDeps, checkInstallation, observeShards } from '../usecases/admin/topology.ts';
import { readConfig } from './config.ts';
import { withTopology } from './connect-engine.ts';
import { createLogger } from './logging.ts';
import { migrateShards } from './migrate.ts';

const log = createLogger({ name: 'inlet-topology', level: 'silent' });

export async function describeTopology(): Promise<{ text: string; hasDifferences: boolean }> {
  return withTopology(readConfig(), log, async (deps) => {
    const [recorded, differences] = [await deps.topology.read(), await checkInstallation(deps)];
    const lines = [
      ...recorded.map(describeShard),
      ...(differences.length === 0 ? ['The configuration and every shard match the record.'] : differences),
    ];
    return { text: lines.join('\n'), hasDifferences: differences.length > 0 };
  });
}

type Change = { readonly isConfirmed: boolean; readonly acceptsLostShards: boolean };

/**
 * Inlet does not move rows between shards. A change is therefore recorded only if every row stays where it is. A shard that
 * is no longer configured takes its rows with it, which the operator must accept explicitly.
 */
export async function changeTopology({ isConfirmed, acceptsLostShards }: Change): Promise<string> {
  const config = readConfig();
  const change = async ({ engine, ...deps }: TopologyDeps & { readonly engine: Engine }): Promise<string> => {
    const recorded = await deps.topology.read();
    if (isConfirmed) {
      await migrateShards(config);
      await assignShardIdentities(engine);
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
    if (lost.length > 0 && !acceptsLostShards) throw refused(text, 'To give up these rows, pass --accept-lost-shards.');
    if (!isConfirmed) return `${text}\nNothing was changed. Run the command with --confirm to record the change.`;
    await deps.topology.record(shards);
    return `${text}\nThe new topology is recorded. Loads continue within INLET_TOPOLOGY_SECONDS.`;
  };
  return underMigrationLock(config.INLET_POSTGRES_URL, () => withTopology(config, log, change));
}

function refused(text: string, remedy: string): Failure {
  return new Failure('topology_mismatch', `${text}\nThe change is refused. ${remedy}`);
}

function describeShard({ number, identity, weight }: ShardRecord): string {
  return `shard ${number}: ${identity}, weight ${weight}`;
}
