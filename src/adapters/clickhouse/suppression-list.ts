import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ListServer, SuppressionChange, SuppressionEngine } from '../../ports/suppression.ts';
import {
  type Engine,
  type Server,
  onAllServers,
  onEveryShardInSync,
  selectNumber,
  selectRows,
  syncAllReplicas,
} from './connect.ts';
import { dropTable } from './schema.ts';
import { hashPrefix, hashPrefixOf, suppressionSetName, suppressionSetPrefix } from './suppression-sql.ts';

const list = 'suppressed_hashes_local';
const keyTable = 'stand_in_key_local';

export function clickhouseSuppressionList(engine: Engine): SuppressionEngine {
  const everywhere = async (run: (server: Server) => Promise<unknown>): Promise<void> =>
    void (await onAllServers(engine, run));
  return {
    writeKey: (key) => everywhere((server) => writeKey(server, key)),
    write: (change) => everywhere((server) => writeHashes(server, change)),
    copyMissing: () => everywhere((server) => copyMissing(server, engine.cluster)),
    measure: (version) => measure(engine, version),
    createSets: (version) => everywhere((server) => createSet(server, version)),
    dropOtherSets: (version) => everywhere((server) => dropOtherSets(server, version)),
    countMatches: (version) => countMatches(engine, version),
  };
}

/** Replaces the key if the installation was restored from a backup of another one. */
async function writeKey(server: Server, key: string): Promise<void> {
  const keys = await selectRows<{ key: string }>(server, `SELECT toString(key) AS key FROM ${keyTable}`);
  if (keys.length === 1 && keys[0]?.key === key) return;
  await server.command({ query: `TRUNCATE TABLE ${keyTable}` });
  await server.insert({ table: keyTable, values: [{ key }], format: 'JSONEachRow' });
}

async function writeHashes(server: Server, { version, isRemoval, hashes }: SuppressionChange): Promise<void> {
  const { stream } = await server.exec({
    query: `INSERT INTO ${list} (hash, version, is_removed)
      SELECT base64Decode(hash), {version: UInt64}, {removed: UInt8} FROM input('hash String') FORMAT LineAsString`,
    query_params: { version, removed: isRemoval ? 1 : 0 },
    values: Readable.from([`${hashes.join('\n')}\n`], { objectMode: false }),
  });
  await finished(stream.resume());
}

/** Removed hashes are also copied, so that the latest change of each hash takes precedence. */
async function copyMissing(server: Server, cluster: string): Promise<void> {
  await server.command({
    query: `INSERT INTO ${list} (hash, version, is_removed)
      SELECT hash, version, is_removed FROM clusterAllReplicas('${cluster}', currentDatabase(), ${list})`,
  });
}

async function measure(engine: Engine, version: number): Promise<ListServer[]> {
  const ofShards = await onAllServers(engine, async (server) => {
    const [counted] = await selectRows<{ hashes: string; checksum: string }>(
      server,
      `SELECT toString(count()) AS hashes, toString(groupBitXor(sipHash64(hash))) AS checksum FROM ${list} FINAL`,
    );
    return {
      hashes: Number(counted?.hashes ?? 0),
      checksum: counted?.checksum ?? '',
      inSet: await countInSet(server, version),
    };
  });
  return ofShards.flatMap((ofShard, shard) =>
    ofShard.map((found, replica) => ({ shard: shard + 1, replica: replica + 1, ...found })),
  );
}

/** Describes the servers that lack the key or the set of this version. Reads no hashes. */
export async function findServersWithoutList(
  engine: Engine,
  { version, hashes }: { readonly version: number; readonly hashes: number },
): Promise<string[]> {
  if (version === 0) return [];
  const ofShards = await onAllServers(engine, async (server) => {
    const keys = await selectNumber(server, { query: `SELECT toString(count()) AS number FROM ${keyTable}` });
    return { keys, inSet: (await countInSet(server, version)) ?? 0 };
  });
  return ofShards.flatMap((ofShard, shard) =>
    ofShard.flatMap(({ keys, inSet }, replica) =>
      keys === 1 && inSet === hashes
        ? []
        : [`shard ${shard + 1}, replica ${replica + 1} has ${inSet} of ${hashes} hashes and ${keys} keys`],
    ),
  );
}

/** Counts the hashes in the set. Null if the server has no such set. */
async function countInSet(server: Server, version: number): Promise<number | null> {
  const [set] = await selectRows<{ rows: string }>(
    server,
    'SELECT toString(total_rows) AS rows FROM system.tables WHERE database = currentDatabase() AND name = {name: String}',
    { name: suppressionSetName(version) },
  );
  return set ? Number(set.rows) : null;
}

async function createSet(server: Server, version: number): Promise<void> {
  const set = suppressionSetName(version);
  await dropTable(server, set);
  await server.command({ query: `CREATE TABLE ${set} (prefix UInt64) ENGINE = Set` });
  await server.command({ query: `INSERT INTO ${set} SELECT ${hashPrefix('hash')} FROM ${list} FINAL` });
}

/** Does not wait for the loads that use the sets. ClickHouse frees the memory of a set when its last statement has ended. */
async function dropOtherSets(server: Server, version: number): Promise<void> {
  const sets = await selectRows<{ name: string }>(
    server,
    `SELECT name FROM system.tables
     WHERE database = currentDatabase() AND startsWith(name, {prefix: String}) AND name != {current: String}`,
    { prefix: suppressionSetPrefix, current: suppressionSetName(version) },
  );
  for (const { name } of sets) await server.command({ query: `DROP TABLE IF EXISTS ${name}` });
}

const deviceTables = ['known_devices_local', 'device_attributes_local', 'audience_devices_local'];

/** The distinct devices of one shard that are on the list. Only matches are kept in memory. */
function matchesSql(version: number): string {
  const isListed = `${hashPrefixOf('device')} IN ${suppressionSetName(version)}`;
  const ofTables = deviceTables.map((table) => `SELECT device FROM ${table} WHERE ${isListed}`);
  return `SELECT device FROM (${ofTables.join(' UNION ALL ')}) GROUP BY device`;
}

async function countMatches(engine: Engine, version: number): Promise<number[]> {
  await syncAllReplicas(engine, deviceTables);
  return onEveryShardInSync(engine, deviceTables, (shard) =>
    selectNumber(shard, { query: `SELECT toString(count()) AS number FROM (${matchesSql(version)})` }),
  );
}
