import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { KnownDevicesRebuild } from '../../ports/warehouse.ts';
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
    count: () =>
      sumOverShards(engine, [live], (shard) =>
        selectNumber(shard, { query: `SELECT toString(count()) AS number FROM ${live} FINAL` }),
      ),
    begin: async () => {
      const rebuildId = randomUUID();
      await onAllServers(engine, (server) => begin(server, rebuildId));
    },
    fill: async () =>
      void (await onEveryShardInSync(engine, ['device_attributes_local'], (shard) =>
        fill(shard, engine.shards.length),
      )),
    swap: async () => {
      await syncAllReplicas(engine, [next]);
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
export async function finishInterruptedSwap(engine: Engine): Promise<void> {
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

/**
 * Creates the next table and a view that copies every new device into it. Statements that started before the view was
 * created do not use it, so this function waits for them. Their rows are in the warehouse, where `fill` finds them.
 */
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
  const running = await insertsInto(shard);
  while (running.size > 0 && (await insertsInto(shard)).intersection(running).size > 0) await pause(100);
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
async function fill(shard: Server, shards: number): Promise<void> {
  const partners = await selectRows<{ id: string }>(
    shard,
    `SELECT DISTINCT partition_id AS id FROM system.parts
     WHERE active AND database = currentDatabase() AND table = 'device_attributes_local'`,
  );
  for (const { id } of partners) {
    await shard.command({
      query: `INSERT INTO ${next} (device)
        ${devicesOfRowsSql('partner_id = {partner: UInt64}', 'FINAL', knownStandIn(standInScope.attribute(), shards))}`,
      query_params: { partner: id },
      clickhouse_settings: { max_bytes_before_external_group_by: '268435456' },
    });
  }
}
