import { ClickHouseError } from '@clickhouse/client';
import type { ObservedServer } from '../../domain/topology.ts';
import type { EngineTopology } from '../../ports/topology.ts';
import { transientErrorKind } from '../transient-errors.ts';
import { type Engine, type Shard, onEveryShard, selectRows } from './connect.ts';
import { type ExpectedSchema, findHighestLoadId, findSchemaDifferences, readSchema } from './schema.ts';

/** `folder` contains the migrations of this release. */
export function clickhouseTopology(engine: Engine, folder: string): EngineTopology {
  let schema: Promise<ExpectedSchema> | undefined;
  return {
    cluster: engine.cluster,
    observe: () => onEveryShard(engine, (shard) => observe(shard, engine.cluster)),
    findSchemaDifferences: async () => {
      schema ??= readSchema(folder);
      return findSchemaDifferences(engine, await schema);
    },
    findHighestLoadId: () => findHighestLoadId(engine),
  };
}

async function observe(shard: Shard, cluster: string): Promise<ObservedServer> {
  const identity = await ownIdentity(shard);
  if (identity === null) return { identity, cluster: [], clustersOfTables: [], problem: null };
  try {
    return {
      identity,
      cluster: await clusterOf(shard, cluster),
      clustersOfTables: await clustersOfTables(shard),
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof ClickHouseError) || transientErrorKind(error) !== null) throw error;
    return { identity, cluster: [], clustersOfTables: [], problem: error.message };
  }
}

/** Null if the database or the table does not exist, or if the table is empty. */
async function ownIdentity(shard: Shard): Promise<string | null> {
  try {
    const [row] = await selectRows<{ id: string }>(
      shard,
      'SELECT toString(identity) AS id FROM shard_identity LIMIT 1',
    );
    return row?.id ?? null;
  } catch (error) {
    const isMissing = error instanceof ClickHouseError && /^UNKNOWN_(?:DATABASE|TABLE)$/.test(error.type ?? '');
    if (isMissing) return null;
    throw error;
  }
}

/** Asks every shard of the cluster for its identity, in the way that a Distributed table reaches it. */
async function clusterOf(shard: Shard, cluster: string): Promise<ObservedServer['cluster']> {
  const weights = await selectRows<{ number: number; weight: number }>(
    shard,
    `SELECT shard_num AS number, any(shard_weight) AS weight FROM system.clusters
     WHERE cluster = {cluster: String} GROUP BY shard_num ORDER BY shard_num`,
    { cluster },
  );
  if (weights.length === 0) return [];
  const identities = await selectRows<{ number: number; id: string }>(
    shard,
    `SELECT _shard_num AS number, toString(identity) AS id
     FROM cluster({cluster: Identifier}, currentDatabase(), shard_identity)`,
    { cluster },
  );
  return weights.map(({ number, weight }) => ({
    number,
    weight,
    identity: identities.find((one) => one.number === number)?.id ?? null,
  }));
}

async function clustersOfTables(shard: Shard): Promise<string[]> {
  const rows = await selectRows<{ cluster: string }>(
    shard,
    `SELECT DISTINCT extract(engine_full, '^Distributed\\\\(\\'([^\\']*)\\'') AS cluster FROM system.tables
     WHERE database = currentDatabase() AND engine = 'Distributed' AND NOT startsWith(name, 'room_')`,
  );
  return rows.map((row) => row.cluster);
}

/** Gives every shard that has none an identity. Idempotent. */
export async function assignShardIdentities(engine: Engine): Promise<void> {
  await onEveryShard(engine, (shard) =>
    shard.command({
      query:
        'INSERT INTO shard_identity (identity) SELECT generateUUIDv4() WHERE (SELECT count() FROM shard_identity) = 0',
    }),
  );
}

/** Every table that places rows by device. Loads with their own staging tables must end before a change. */
const tables = [
  'device_attributes_local',
  'audience_devices_local',
  'known_devices_local',
  'staged_attributes_local',
  'staged_members_local',
  'staged_devices_local',
];

/** Rows of the warehouse that would be stored on another shard if the cluster had these weights. */
export async function countMisplacedRows(
  engine: Engine,
  weights: readonly number[],
): Promise<{ rows: number; misplaced: number }> {
  const slots = weights.flatMap((weight, index) => Array.from({ length: weight }, () => index));
  const counts = await onEveryShard(engine, async (shard, index) => {
    const own = slots.flatMap((owner, slot) => (owner === index ? slot : []));
    const [row] = await selectRows<{ rows: string; misplaced: string }>(
      shard,
      `SELECT toString(count()) AS rows, toString(countIf(NOT has([${own.join()}], cityHash64(device) % ${slots.length}))) AS misplaced
       FROM (${tables.map((table) => `SELECT device FROM ${table}`).join(' UNION ALL ')})`,
    );
    return { rows: Number(row?.rows ?? 0), misplaced: Number(row?.misplaced ?? 0) };
  });
  return counts.reduce((sum, one) => ({ rows: sum.rows + one.rows, misplaced: sum.misplaced + one.misplaced }));
}
