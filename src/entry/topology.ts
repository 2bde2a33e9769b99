import { assignShardIdentities, countMisplacedRows } from '../adapters/clickhouse/topology.ts';
import { Failure } from '../domain/failure.ts';
import { type ShardRecord, placesDevicesAlike } from '../domain/topology.ts';
import { checkTopology, observeShards } from '../usecases/admin/topology.ts';
import { readConfig } from './config.ts';
import { createLogger } from './logging.ts';
import { withTopology } from './migrate.ts';

const log = createLogger({ name: 'inlet-topology', level: 'silent' });

export async function describeTopology(): Promise<{ text: string; hasDifferences: boolean }> {
  return withTopology(readConfig(), log, async (deps) => {
    const [recorded, differences] = [await deps.topology.read(), await checkTopology(deps)];
    const lines = [
      ...recorded.map(describeShard),
      ...(differences.length === 0 ? ['The configuration and every shard match the record.'] : differences),
    ];
    return { text: lines.join('\n'), hasDifferences: differences.length > 0 };
  });
}

/**
 * Inlet does not move rows between shards. A change is therefore recorded only if every device stays where it is, or if no
 * row would be misplaced because the warehouse is empty.
 */
export async function changeTopology(isConfirmed: boolean): Promise<string> {
  return withTopology(readConfig(), log, async ({ engine, ...deps }) => {
    const recorded = await deps.topology.read();
    await assignShardIdentities(engine);
    const shards = await observeShards(deps);
    const { rows, misplaced } = await countMisplacedRows(
      engine,
      shards.map(({ weight }) => weight),
    );
    const effect = placesDevicesAlike(recorded, shards)
      ? `Every device stays on its shard number (${rows} rows).`
      : `${misplaced} of ${rows} rows would be on the wrong shard. Their devices would be stored and counted twice.`;
    const before = recorded.map(describeShard);
    const text = ['Recorded:', ...before, 'Configured:', ...shards.map(describeShard), effect].join('\n');
    if (misplaced > 0) {
      throw new Failure(
        'topology_mismatch',
        `${text}\nThe change is not allowed. Restore the previous cluster, or load the data into a new installation.`,
      );
    }
    if (!isConfirmed) return `${text}\nNothing was changed. Run the command with --confirm to record the change.`;
    await deps.topology.record(shards);
    return `${text}\nThe new topology is recorded. Loads continue within INLET_TOPOLOGY_SECONDS.`;
  });
}

function describeShard({ number, identity, weight }: ShardRecord): string {
  return `shard ${number}: ${identity}, weight ${weight}`;
}
