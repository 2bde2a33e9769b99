import type { JobId, LoadId } from '../../domain/ids.ts';
import {
  type Engine,
  type Server,
  isOurStatement,
  jobQueryPrefix,
  loadQueryPrefix,
  onAllServers,
  onAvailableServers,
  onEveryServer,
  selectRows,
} from './connect.ts';
import { dropStagingTables, listLoadsWithStagingTables } from './staging-tables.ts';

/**
 * Staging tables that are partitioned by load, and tables that are partitioned by job. A load has rows in only one of
 * the tables that are partitioned by load. Dropping a missing partition is free.
 */
const loadTables = ['staged_attributes_local', 'staged_members_local'];
const jobTables = ['staged_devices_local', 'job_keys_local'];

/** Removes the stages of completed loads, which have no running statements. */
export async function dropStages(engine: Engine, loadIds: readonly LoadId[]): Promise<void> {
  await Promise.all([dropShared(engine, loadIds), dropStagingTables(engine, loadIds)]);
}

async function dropShared(engine: Engine, loadIds: readonly LoadId[]): Promise<void> {
  await Promise.all(loadTables.map((table) => dropPartitions(engine, table, loadIds)));
}

/**
 * Removes the data of an abandoned attempt whose statements may still be running. It drops the stage first, so that a
 * late publish finds no rows. It then kills the statements, because closing the request does not stop an INSERT.
 * Finally, it drops the rows that the statements wrote in the meantime. Dropping a staging table waits for the
 * statements that use it and prevents new ones from starting.
 */
export async function dropLoad(engine: Engine, loadId: LoadId): Promise<void> {
  await dropShared(engine, [loadId]);
  await stopStatements(engine, loadQueryPrefix(loadId));
  await dropStages(engine, [loadId]);
}

export async function stopJob(engine: Engine, jobId: JobId): Promise<void> {
  await stopStatements(engine, jobQueryPrefix(jobId));
}

async function stopStatements(engine: Engine, prefix: string): Promise<void> {
  await onEveryServer(engine, (server) =>
    server.command({
      query: `KILL QUERY WHERE ${isOurStatement} SYNC`,
      query_params: { prefix },
    }),
  );
}

export async function dropJob(engine: Engine, jobId: JobId): Promise<void> {
  await Promise.all(jobTables.map((table) => dropPartitions(engine, table, [jobId])));
}

const partitionsPerStatement = 200;

async function dropPartitions(engine: Engine, table: string, ids: readonly number[]): Promise<void> {
  const wrong = ids.find((id) => !Number.isSafeInteger(id));
  if (wrong !== undefined) throw new TypeError(`${wrong} is not a partition ID`);
  for (let start = 0; start < ids.length; start += partitionsPerStatement) {
    const drops = ids.slice(start, start + partitionsPerStatement).map((id) => `DROP PARTITION ID '${id}'`);
    await onEveryServer(engine, (server) =>
      server.command({
        query: `ALTER TABLE ${table} ${drops.join(', ')}`,
        clickhouse_settings: { max_partition_size_to_drop: '0' },
      }),
    );
  }
}

/** Ignores the empty parts that exist for a short time after a partition is dropped. */
export async function listStaged(
  engine: Engine,
  servers: 'available' | 'all',
): Promise<{ loadIds: LoadId[]; jobIds: JobId[] }> {
  const onServers = servers === 'all' ? onAllServers : onAvailableServers;
  const parts = await onServers(engine, (server) =>
    selectRows<{ table: string; partition_id: string }>(
      server,
      `SELECT DISTINCT table, partition_id FROM system.parts
       WHERE active AND rows > 0 AND database = currentDatabase() AND table IN ({tables: Array(String)})`,
      { tables: [...loadTables, ...jobTables] },
    ),
  );
  const ids = (tables: readonly string[]): number[] => [
    ...new Set(
      parts
        .flat(2)
        .filter(({ table }) => tables.includes(table))
        .map(({ partition_id }) => Number(partition_id)),
    ),
  ];
  const [ownTables, running] = await Promise.all([
    onServers(engine, listLoadsWithStagingTables),
    onServers(engine, listRunningLoads),
  ]);
  return {
    loadIds: [...new Set([...ids(loadTables), ...ownTables.flat(2), ...running.flat(2)])],
    jobIds: ids(jobTables),
  };
}

/** Returns the loads that have statements running on the server. Their stages may have been dropped already. */
async function listRunningLoads(server: Server): Promise<number[]> {
  const found = await selectRows<{ id: string }>(
    server,
    `SELECT DISTINCT extract(initial_query_id, '^inlet-load-([0-9]+)-') AS id FROM system.processes
     WHERE startsWith(initial_query_id, 'inlet-load-') AND Settings['log_comment'] = currentDatabase()`,
  );
  return found.flatMap(({ id }) => (id === '' ? [] : [Number(id)]));
}
