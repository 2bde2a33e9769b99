import type { PartnerId } from '../../domain/ids.ts';
import type { PlaceCount } from '../../domain/partner-removal.ts';
import type { StageOwners } from '../../ports/partner-removal.ts';
import { type Engine, type Server, onAllServers, selectRows } from './connect.ts';
import { dropExportTables, exportOfTable } from './reject-reader.ts';
import { loadOfTable } from './staging-tables.ts';

/** Shared staging tables, by the ID that their partitions are named after. Rows of attributes have a partner. */
const stagedTables = {
  staged_members_local: 'loads',
  staged_devices_local: 'jobs',
  job_keys_local: 'jobs',
} as const;

type Kind = 'loads' | 'jobs' | 'exports';
/** What is staged under an ID on one server: either rows in a shared table, or a separate table. */
type Staged = { readonly place: string; readonly kind: Kind; readonly id: number; readonly count: number };

const tablePlace = 'staging_tables';
const places = [...Object.keys(stagedTables).map((table) => table.replace(/_local$/, '')), tablePlace];

/** Counts what is staged for the partner, or under an ID without a record, on every server. */
export async function countStaged(engine: Engine, partnerId: PartnerId, owners: StageOwners): Promise<PlaceCount[]> {
  const servers = await onAllServers(engine, findStaged);
  const isOthers = await othersOf(servers.flat(2), partnerId, owners);
  return servers.flatMap((replicas, shard) =>
    replicas.flatMap((found, replica) =>
      places.map((place) => ({
        store: 'clickhouse' as const,
        place,
        shard: shard + 1,
        replica: replica + 1,
        count: found.filter((one) => one.place === place && !isOthers(one)).reduce((sum, { count }) => sum + count, 0),
      })),
    ),
  );
}

/** Drops the tables of the partner's exports of rejected rows, and those of exports without a record. */
export async function dropExports(engine: Engine, partnerId: PartnerId, owners: StageOwners): Promise<void> {
  const servers = await onAllServers(engine, findTables);
  const found = servers.flat(2).filter(({ kind }) => kind === 'exports');
  const isOthers = await othersOf(found, partnerId, owners);
  const ids = new Set(found.filter((one) => !isOthers(one)).map(({ id }) => id));
  for (const exportId of ids) await dropExportTables(engine, exportId);
}

/** The owners are read after the tables. A load, a job, or an export has a record before it stages anything. */
async function othersOf(
  staged: readonly Staged[],
  partnerId: PartnerId,
  owners: StageOwners,
): Promise<(one: Staged) => boolean> {
  const idsOf = (kind: Kind): number[] => [...new Set(staged.filter((one) => one.kind === kind).map(({ id }) => id))];
  const of = {
    loads: await owners.ownersOfStagedLoads(idsOf('loads')),
    jobs: await owners.ownersOfJobs(idsOf('jobs')),
    exports: await owners.ownersOfExports(idsOf('exports')),
  };
  return ({ kind, id }) => (of[kind].get(id) ?? partnerId) !== partnerId;
}

async function findStaged(server: Server): Promise<Staged[]> {
  const parts = await selectRows<{ table: keyof typeof stagedTables; id: string; found: string }>(
    server,
    `SELECT table, partition_id AS id, toString(sum(rows)) AS found FROM system.parts
     WHERE active AND rows > 0 AND database = currentDatabase() AND table IN ({tables: Array(String)})
     GROUP BY table, partition_id`,
    { tables: Object.keys(stagedTables) },
  );
  return [
    ...parts.map(({ table, id, found }) => ({
      place: table.replace(/_local$/, ''),
      kind: stagedTables[table],
      id: Number(id),
      count: Number(found),
    })),
    ...(await findTables(server)),
  ];
}

async function findTables(server: Server): Promise<Staged[]> {
  const tables = await selectRows<{ name: string }>(
    server,
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'room_')`,
  );
  return tables.flatMap(({ name }): Staged[] => {
    const [loadId, exportId] = [loadOfTable(name), exportOfTable(name)];
    if (loadId !== null) return [{ place: tablePlace, kind: 'loads', id: loadId, count: 1 }];
    return exportId === null ? [] : [{ place: tablePlace, kind: 'exports', id: exportId, count: 1 }];
  });
}
