import type { PartnerId } from '../../domain/ids.ts';
import type { PlaceCount } from '../../domain/partner-removal.ts';
import type { LoadOwners, RemovalEngine } from '../../ports/partner-removal.ts';
import { type Engine, onAllServers, selectNumber, selectRows, syncAllReplicas } from './connect.ts';
import { checkedId } from './erasure/erased-devices.ts';
import { eraseFrom } from './erasure/erase-table.ts';
import { replicatedTables } from './migration-sql.ts';
import { countStaged, dropExports } from './removal-stages.ts';

/** Maximum number of IDs in one statement, so that it stays below the maximum size of a query. */
const maxIds = 5_000;

const loadTables = ['load_rejects_local', 'load_counts_local'] as const;

export function clickhouseRemovalEngine(engine: Engine): RemovalEngine {
  return {
    countRows: (partnerId) => countRows(engine, partnerId),
    removeRows: (partnerId, signal) => removeRows(engine, partnerId, signal),
    countLoads: (partnerId, owners) => countLoads(engine, partnerId, owners),
    countStaged: (partnerId, owners) => countStaged(engine, partnerId, owners),
    dropExports: (partnerId, owners) => dropExports(engine, partnerId, owners),
    removeLoads: async (partnerId, owners, signal) => {
      for (const table of loadTables) {
        for (const condition of await conditionsOf(engine, table, partnerId, owners))
          await eraseFrom(engine, table, condition, signal, { isReplicated: replicatedTables.has(table) });
      }
    },
  };
}

type PartnerTable = { readonly name: string; readonly isPartitioned: boolean };

/** Reads the tables with partners from the engine, so that a table of a later release is not forgotten. */
async function tablesWithPartners(engine: Engine): Promise<PartnerTable[]> {
  const found = await onAllServers(engine, (server) =>
    selectRows<{ name: string; key: string }>(
      server,
      `SELECT name, partition_key AS key FROM system.tables
       WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name IN (
         SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'partner_id')`,
    ),
  );
  const tables = new Map(found.flat(2).map(({ name, key }) => [name, key === 'partner_id']));
  return [...tables]
    .map(([name, isPartitioned]) => ({ name, isPartitioned }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function countRows(engine: Engine, partnerId: PartnerId): Promise<PlaceCount[]> {
  const tables = await tablesWithPartners(engine);
  // A staging table of a load can be dropped at any time, and is not replicated.
  const lasting = tables.filter(({ name }) => !name.startsWith('room_'));
  await untilInSync(
    engine,
    lasting.map(({ name }) => name),
  );
  const counts: PlaceCount[] = [];
  for (const { name } of lasting)
    counts.push(...(await countWhere(engine, name, `partner_id = ${checkedId(partnerId)}`)));
  return counts;
}

/** In the other tables, each replica has its own rows, so all servers are counted. */
function untilInSync(engine: Engine, tables: readonly string[]): Promise<void> {
  return syncAllReplicas(
    engine,
    tables.filter((table) => replicatedTables.has(table)),
  );
}

async function countWhere(engine: Engine, table: string, condition: string): Promise<PlaceCount[]> {
  const query = `SELECT toString(count()) AS number FROM ${table} WHERE ${condition}`;
  const found = await onAllServers(engine, (server) => selectNumber(server, { query }));
  return found.flatMap((replicas, shard) =>
    replicas.map((count, replica) => ({
      store: 'clickhouse' as const,
      place: table.replace(/_local$/, ''),
      shard: shard + 1,
      replica: replica + 1,
      count,
    })),
  );
}

async function removeRows(engine: Engine, partnerId: PartnerId, signal: AbortSignal): Promise<void> {
  for (const { name, isPartitioned } of await tablesWithPartners(engine)) {
    if (name.startsWith('room_')) continue;
    const isReplicated = replicatedTables.has(name);
    const own = isPartitioned ? { isReplicated, partitions: [partnerId] } : { isReplicated };
    await eraseFrom(engine, name, `partner_id = ${checkedId(partnerId)}`, signal, own);
  }
}

async function countLoads(engine: Engine, partnerId: PartnerId, owners: LoadOwners): Promise<PlaceCount[]> {
  const counts: PlaceCount[] = [];
  for (const table of loadTables) {
    await untilInSync(engine, [table]);
    const conditions = await conditionsOf(engine, table, partnerId, owners);
    // If there is no condition, the table contains no rows of the partner.
    const found = await Promise.all(
      (conditions.length === 0 ? ['0'] : conditions).map((one) => countWhere(engine, table, one)),
    );
    const [first = [], ...others] = found;
    counts.push(
      ...first.map((place, index) => ({
        ...place,
        count: others.reduce((sum, more) => sum + (more[index]?.count ?? 0), place.count),
      })),
    );
  }
  return counts;
}

/**
 * Conditions for the rows of the partner's loads. Rejected lines whose file has no record are included, because their
 * partner is unknown. Counts of such files stay, because the audit compares them with the records of their loads.
 */
async function conditionsOf(
  engine: Engine,
  table: (typeof loadTables)[number],
  partnerId: PartnerId,
  { ownersOfFiles, ownersOfLoads }: LoadOwners,
): Promise<string[]> {
  const found = await onAllServers(engine, (server) =>
    selectRows<{ load: string; file: string }>(
      server,
      `SELECT DISTINCT toString(load_id) AS load, toString(file_id) AS file FROM ${table}`,
    ),
  );
  const loadsOfFiles = new Map(found.flat(2).map(({ load, file }) => [Number(file), Number(load)]));
  const owned: number[] = [];
  for (const files of chunksOf([...loadsOfFiles.keys()])) {
    const ofFiles = await ownersOfFiles(files);
    const ofLoads = await ownersOfLoads(files.flatMap((file) => loadsOfFiles.get(file) ?? []));
    owned.push(
      ...files.filter((file) => {
        const owner = ofFiles.get(file) ?? ofLoads.get(loadsOfFiles.get(file) ?? 0);
        return owner === undefined ? table === 'load_rejects_local' : owner === partnerId;
      }),
    );
  }
  return chunksOf(owned).map((files) => `file_id IN (${files.map(checkedId).join()})`);
}

function chunksOf(ids: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(ids.length / maxIds) }, (_, index) =>
    ids.slice(index * maxIds, (index + 1) * maxIds),
  );
}
