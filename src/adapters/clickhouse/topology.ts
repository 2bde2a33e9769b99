import { ClickHouseError } from '@clickhouse/client';
import { randomUUID } from 'node:crypto';
import type { ObservedServer } from '../../domain/topology.ts';
import type { EngineTopology } from '../../ports/topology.ts';
import { transientErrorKind } from '../transient-errors.ts';
import { type Engine, type Server, isReplicated, onEveryShard, selectRows } from './connect.ts';
import { replicatedTables } from './migration-sql.ts';
import { type ExpectedSchema, findHighestLoadId, findSchemaDifferences, readSchema } from './schema.ts';

/** `folder` contains the migrations of this release. */
export function clickhouseTopology(engine: Engine, folder: string): EngineTopology {
  let schema: Promise<ExpectedSchema> | undefined;
  return {
    configured: { name: engine.cluster, replicas: engine.shards.map((shard) => shard.length) },
    observe: () => observeServers(engine),
    findSchemaDifferences: async () => {
      schema ??= readSchema(folder);
      return findSchemaDifferences(engine, await schema);
    },
    findHighestLoadId: () => findHighestLoadId(engine),
  };
}

async function observeServers(engine: Engine): Promise<ObservedServer[]> {
  const observed = await Promise.all(
    engine.shards.map(async (shard, index) => {
      const results = await Promise.allSettled(
        shard.map((server, replica) => observe(server, engine, { shard: index + 1, replica: replica + 1 })),
      );
      const available = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      for (const result of results) {
        if (result.status === 'fulfilled') continue;
        if (available.length === 0 || transientErrorKind(result.reason) === null) throw result.reason;
      }
      return available;
    }),
  );
  return observed.flat();
}

async function observe(
  server: Server,
  engine: Engine,
  position: Pick<ObservedServer, 'shard' | 'replica'>,
): Promise<ObservedServer> {
  const nothing = { ...position, names: [], keeperPath: null, cluster: [], clustersOfTables: [], problem: null };
  const identity = await ownIdentity(server);
  if (identity === null) return { ...nothing, identity };
  try {
    return {
      ...nothing,
      identity,
      names: await namesOf(server),
      keeperPath: isReplicated(engine) ? await keeperPathOf(server) : null,
      cluster: await clusterOf(server, engine.cluster, isReplicated(engine)),
      clustersOfTables: await clustersOfTables(server),
    };
  } catch (error) {
    if (!(error instanceof ClickHouseError) || transientErrorKind(error) !== null) throw error;
    return { ...nothing, identity, problem: error.message };
  }
}

/** The number of concurrent requests, each on its own connection, that check whether a URL leads to a single server. */
const nameRequests = 4;

async function namesOf(server: Server): Promise<string[]> {
  const requests = Array.from({ length: nameRequests }, () =>
    selectRows<{ name: string }>(server, `SELECT concat(hostName(), ':', toString(tcpPort())) AS name`),
  );
  return [...new Set((await Promise.all(requests)).flat().map(({ name }) => name))];
}

async function keeperPathOf(server: Server): Promise<string | null> {
  const rows = await selectRows<{ path: string }>(
    server,
    `SELECT zookeeper_path AS path FROM system.replicas
     WHERE database = currentDatabase() AND table IN ({tables: Array(String)}) ORDER BY table`,
    { tables: [...replicatedTables] },
  );
  return rows.length < replicatedTables.size ? null : rows.map(({ path }) => path).join(' ');
}

/** Null if the database or the table does not exist, or if the table is empty. */
async function ownIdentity(shard: Server): Promise<string | null> {
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

/** Queries the identity of every server in the cluster. Reaches the servers the same way a Distributed table does. */
async function clusterOf(server: Server, cluster: string, canSkip: boolean): Promise<ObservedServer['cluster']> {
  const shards = await selectRows<{ number: number; weight: number; replicas: string; internal: number }>(
    server,
    `SELECT shard_num AS number, any(shard_weight) AS weight, toString(count()) AS replicas,
       any(internal_replication) AS internal FROM system.clusters
     WHERE cluster = {cluster: String} GROUP BY shard_num ORDER BY shard_num`,
    { cluster },
  );
  if (shards.length === 0) return [];
  // `clusterAllReplicas` numbers all replicas of all shards consecutively. A single replica is allowed to be
  // unavailable, but a whole shard is not.
  const identities = await selectRows<{ position: number; id: string }>(
    server,
    `SELECT _shard_num AS position, toString(identity) AS id
     FROM clusterAllReplicas({cluster: Identifier}, currentDatabase(), shard_identity)
     SETTINGS skip_unavailable_shards = ${canSkip ? 1 : 0}`,
    { cluster },
  );
  let position = 0;
  return shards.map(({ number, weight, replicas, internal }) => {
    const start = position;
    position += Number(replicas);
    const found = identities.filter((one) => one.position > start && one.position <= start + Number(replicas));
    const distinct = [...new Set(found.map(({ id }) => id))];
    return {
      number,
      weight,
      replicas: Number(replicas),
      isInternallyReplicated: internal === 1,
      identity: distinct.join(' and ') || null,
    };
  });
}

async function clustersOfTables(shard: Server): Promise<string[]> {
  const rows = await selectRows<{ cluster: string }>(
    shard,
    `SELECT DISTINCT extract(engine_full, '^Distributed\\\\(\\'([^\\']*)\\'') AS cluster FROM system.tables
     WHERE database = currentDatabase() AND engine = 'Distributed' AND NOT startsWith(name, 'room_')`,
  );
  return rows.map((row) => row.cluster);
}

/** Assigns an identity to every shard that has none. A new replica gets the identity of its shard. Idempotent. */
export async function assignShardIdentities(engine: Engine): Promise<void> {
  for (const shard of engine.shards) {
    const identities = await Promise.all(shard.map(ownIdentity));
    const identity = identities.find((one) => one !== null) ?? randomUUID();
    for (const [replica, server] of shard.entries()) {
      if (identities[replica] !== null) continue;
      await server.insert({ table: 'shard_identity', values: [{ identity }], format: 'JSONEachRow' });
    }
  }
}

/**
 * Every table whose rows are distributed by device. Loads that have their own staging tables must end before the
 * topology is changed.
 */
const tables = [
  'device_attributes_local',
  'audience_devices_local',
  'known_devices_local',
  'staged_attributes_local',
  'staged_members_local',
  'staged_devices_local',
];

/** Counts all rows, and the rows that would be stored on a different shard if the cluster had these weights. */
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
