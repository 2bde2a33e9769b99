import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { KnownDevicesRebuild, NextTables } from '../../ports/known-devices.ts';
import {
  type Engine,
  type Server,
  onAllServers,
  onEveryShardInSync,
  selectNumber,
  selectRows,
  sumOverShards,
  syncAllReplicas,
} from './connect.ts';
import { devicesOfRowsSql } from './count-stand-ins.ts';
import { dropTable, engineOf } from './schema.ts';
import { knownStandIn, standInScope } from './stand-in-sql.ts';

const live = 'known_devices_local';
const next = 'known_devices_next_local';
const feed = 'known_devices_next_feed';

export function clickhouseKnownDevicesRebuild(engine: Engine): KnownDevicesRebuild {
  return {
    finishSwap: () => finishInterruptedSwap(engine),
    count: () =>
      sumOverShards(engine, [live], (shard) =>
        selectNumber(shard, { query: `SELECT toString(count()) AS number FROM ${live} FINAL` }),
      ),
    begin: async () => {
      const rebuildId = randomUUID();
      await onAllServers(engine, (server) => begin(server, rebuildId));
      return findNext(engine);
    },
    fill: async (signal) => {
      await onAllServers(engine, (server) => untilInserted(server, signal));
      await onEveryShardInSync(engine, ['device_attributes_local'], (shard) =>
        fill(shard, engine.shards.length, signal),
      );
    },
    abandon: async (tables) => {
      await requireOwn(engine, tables);
      await onAllServers(engine, drop);
    },
    swap: async (tables) => {
      await syncAllReplicas(engine, [next]);
      await requireOwn(engine, tables);
      await onAllServers(engine, (server) => server.command({ query: `EXCHANGE TABLES ${live} AND ${next}` }));
    },
    dropOld: async () => void (await onAllServers(engine, drop)),
  };
}

/**
 * Returns the identity of the live table, and whether a rebuild is copying new devices into the next table. The
 * identity changes if a whole rebuild takes place between two calls.
 */
export async function findRebuild(shard: Server): Promise<{ readonly table: string; readonly isFed: boolean }> {
  const rows = await selectRows<{ name: string; uuid: string }>(
    shard,
    `SELECT name, toString(uuid) AS uuid FROM system.tables
     WHERE database = currentDatabase() AND name IN ('${live}', '${feed}')`,
  );
  const table = rows.find(({ name }) => name === live)?.uuid ?? '';
  return { table, isFed: rows.some(({ name }) => name === feed) };
}

/**
 * Completes a swap that was interrupted between two replicas of a shard. Both tables have all devices, so the table of the
 * first replica is used.
 */
async function finishInterruptedSwap(engine: Engine): Promise<void> {
  const pathOf = async (server: Server, table: string): Promise<string> => {
    const query = `SELECT zookeeper_path AS path FROM system.replicas WHERE database = currentDatabase() AND table = '${table}'`;
    return (await selectRows<{ path: string }>(server, query))[0]?.path ?? '';
  };
  for (const [first, ...others] of engine.shards) {
    const path = others.length === 0 ? '' : await pathOf(first, live);
    for (const server of others) {
      if ((await pathOf(server, live)) === path || (await pathOf(server, next)) !== path) continue;
      await server.command({ query: `EXCHANGE TABLES ${live} AND ${next}` });
    }
  }
}

/** Drops the leftovers of an earlier rebuild, whether the rebuild was stopped before or after the swap. */
async function drop(shard: Server): Promise<void> {
  await shard.command({ query: `DROP VIEW IF EXISTS ${feed} SYNC` });
  await dropTable(shard, next);
}

/** Creates the next table and a view that copies every new device into it. */
async function begin(shard: Server, rebuildId: string): Promise<void> {
  await drop(shard);
  const current = await engineOf(shard, live);
  // All replicas register a replicated table under the same path, which is unique to that table.
  const engine = current.replace(
    /^(Replicated\w+\('[^']+\/)\w+'/,
    `$1known_devices_${rebuildId.replaceAll('-', '_')}'`,
  );
  await shard.command({ query: `CREATE TABLE ${next} AS ${live} ENGINE = ${engine}` });
  await shard.command({ query: `CREATE MATERIALIZED VIEW ${feed} TO ${next} AS SELECT device FROM ${live}` });
}

/** Returns the UUIDs of the next tables, in the order of the servers. */
async function findNext(engine: Engine): Promise<NextTables> {
  const query = `SELECT toString(uuid) AS uuid FROM system.tables WHERE database = currentDatabase() AND name = '${next}'`;
  const found = await onAllServers(engine, (server) => selectRows<{ uuid: string }>(server, query));
  return found.flatMap((replicas) => replicas.map(([table]) => table?.uuid ?? ''));
}

/** A worker that has lost the migration lock must not swap or drop the table that another rebuild is filling. */
async function requireOwn(engine: Engine, tables: NextTables): Promise<void> {
  if (String(await findNext(engine)) !== String(tables)) throw new Error(`Another rebuild has replaced ${next}.`);
}

/**
 * Waits for statements that started before the view was created, because they do not use it. Their rows are in the
 * warehouse, where `fill` finds them.
 */
async function untilInserted(server: Server, signal: AbortSignal): Promise<void> {
  const running = await insertsInto(server);
  while (running.size > 0 && (await insertsInto(server)).intersection(running).size > 0)
    await pause(100, undefined, { signal });
}

async function insertsInto(shard: Server): Promise<Set<string>> {
  const rows = await selectRows<{ id: string }>(
    shard,
    `SELECT query_id AS id FROM system.processes
     WHERE current_database = currentDatabase() AND startsWith(trimLeft(query), 'INSERT INTO ${live}')`,
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Inserts the devices that have a live attribute row, one statement per partner. The view covers
 * partners whose first import ends after this function reads the list of partners.
 */
async function fill(shard: Server, shards: number, signal: AbortSignal): Promise<void> {
  const partners = await selectRows<{ id: string }>(
    shard,
    `SELECT DISTINCT partition_id AS id FROM system.parts
     WHERE active AND database = currentDatabase() AND table = 'device_attributes_local'`,
  );
  for (const { id } of partners) {
    const query = `INSERT INTO ${next} (device)
      ${devicesOfRowsSql('partner_id = {partner: UInt64}', 'FINAL', knownStandIn(standInScope.attribute(), shards))}`;
    await runUnlessAborted(shard, query, { partner: id }, signal);
  }
}

/** Leaves memory and the other processors to loads. */
const fillSettings = { max_bytes_before_external_group_by: '268435456', max_threads: 2 } as const;

/** Kills the statement if the signal is aborted, because ClickHouse would otherwise complete it. */
async function runUnlessAborted(
  server: Server,
  query: string,
  query_params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const query_id = `inlet-known-devices-${randomUUID()}`;
  const kill = (): void => {
    server
      .command({ query: 'KILL QUERY WHERE query_id = {id: String} SYNC', query_params: { id: query_id } })
      .catch(() => undefined); // if this fails, the statement runs to its end
  };
  signal.addEventListener('abort', kill);
  try {
    await server.command({ query, query_params: { ...query_params }, query_id, clickhouse_settings: fillSettings });
  } catch (error) {
    signal.throwIfAborted(); // the server describes a killed statement in several ways
    throw error;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}
