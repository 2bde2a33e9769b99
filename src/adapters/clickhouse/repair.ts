import type { LoadId } from '../../domain/ids.ts';
import type { RepairEngine, StagedFile } from '../../ports/repair.ts';
import { generationParameters, isOfGeneration } from './audience-warehouse.ts';
import {
  type Engine,
  onEveryServer,
  requireReplicated,
  selectFromShards,
  selectNumber,
  selectRows,
  syncServer,
} from './connect.ts';

export function clickhouseRepairEngine(engine: Engine): RepairEngine {
  return {
    shards: engine.shards.length,
    findUncounted: (loadIds) => findUncounted(engine, loadIds),
    countMissing: async (staged, except) => {
      const { query, query_params } = missingSql(staged, except);
      // Queries every server, because the rows of the repair can be staged on any replica.
      const missing = await onEveryServer(engine, async (server) => {
        await syncServer(engine, server, finalTables);
        return selectNumber(server, { query, query_params, clickhouse_settings: merge });
      });
      return missing.flat().reduce((sum, rows) => sum + rows, 0);
    },
    addRows: async (staged, except) => {
      const { query, query_params } = addSql(staged, except);
      await onEveryServer(engine, (server) =>
        server.command({ query, query_params, clickhouse_settings: { optimize_on_insert: 0 } }),
      );
      for (const table of finalTables) await requireReplicated(engine, table);
    },
    restoreCounts: (staged) => restoreCounts(engine, staged),
  };
}

const finalTables = ['device_attributes_local', 'audience_devices_local'];

/** A sorted merge keeps neither table in memory. */
const merge = { join_algorithm: 'full_sorting_merge' as const };

async function findUncounted(engine: Engine, loadIds: readonly LoadId[]): Promise<LoadId[]> {
  const counted = await onEveryServer(engine, (server) =>
    selectRows<{ id: string }>(
      server,
      'SELECT DISTINCT toString(load_id) AS id FROM load_counts_local WHERE load_id IN ({loads: Array(UInt64)})',
      { loads: loadIds },
    ),
  );
  const found = new Set(counted.flat(2).map(({ id }) => Number(id)));
  return loadIds.filter((loadId) => !found.has(loadId));
}

type Statement = { readonly query: string; readonly query_params: Record<string, unknown> };

/**
 * A staged row is missing if the final table does not contain it with the same or a later version. Within one job, adds
 * have a higher version than deletes, so adds and deletes are each compared with their own version.
 */
function missingSql({ load, file }: StagedFile, except: readonly number[]): Statement {
  const { loadId, partnerId, target } = load;
  if (target.kind === 'audience') {
    return {
      query: `SELECT toString(countIf(is_stored = 0)) AS number
        FROM (SELECT DISTINCT device, event FROM staged_members_local WHERE load_id = {load: UInt64}) AS staged
        ANY LEFT JOIN (SELECT device, event, 1 AS is_stored FROM audience_devices_local WHERE ${isOfGeneration}) AS stored
        ON staged.device = stored.device AND staged.event = stored.event`,
      query_params: { load: loadId, ...generationParameters({ partnerId, ...target }) },
    };
  }
  const ofVersion = (isDeleted: 0 | 1): string => `
    SELECT countIf(is_stored = 0) AS rows
    FROM (SELECT DISTINCT attribute_id, device FROM staged_attributes_local
      WHERE load_id = {load: UInt64} AND is_deleted = ${isDeleted} AND attribute_id NOT IN ({except: Array(UInt64)})) AS staged
    ANY LEFT JOIN (SELECT attribute_id, device, 1 AS is_stored FROM device_attributes_local
      WHERE partner_id = {partner: UInt64} AND version >= ${isDeleted ? '{deletes: UInt64}' : '{adds: UInt64}'}) AS stored
    ON staged.attribute_id = stored.attribute_id AND staged.device = stored.device`;
  return {
    query: `SELECT toString(sum(rows)) AS number FROM (${ofVersion(0)} UNION ALL ${ofVersion(1)})`,
    query_params: {
      load: loadId,
      partner: file.partnerId,
      except,
      adds: target.versions.ofAdds,
      deletes: target.versions.ofDeletes,
    },
  };
}

const columns = 'partner_id, attribute_id, device, id_type, country, version, is_deleted';

function addSql({ load, file }: StagedFile, except: readonly number[]): Statement {
  const { loadId, partnerId, target } = load;
  if (target.kind === 'audience') {
    return {
      query: `INSERT INTO audience_devices_local (partner_id, audience_id, generation, device, event, file_id)
        SELECT {partner: UInt64}, {audience: UInt64}, {generation: UInt32}, staged.device, staged.event, staged.file_id
        FROM staged_members_local AS staged WHERE load_id = {load: UInt64} AND file_id = {file: UInt64}`,
      query_params: { load: loadId, file: file.fileId, ...generationParameters({ partnerId, ...target }) },
    };
  }
  return {
    query: `INSERT INTO device_attributes_local (${columns}) SELECT ${columns} FROM staged_attributes_local
      WHERE load_id = {load: UInt64} AND attribute_id NOT IN ({except: Array(UInt64)})`,
    query_params: { load: loadId, except },
  };
}

/**
 * Copies the counts of the repair load to the original load, unless the original counts still exist. Only the server
 * that received the repair load has its counts.
 */
async function restoreCounts(engine: Engine, { load, file }: StagedFile): Promise<void> {
  const tables = {
    load_counts_local: 'file_id, reason, rows, bytes, first_row, staged_rows',
    load_rejects_local: 'file_id, reason, row, text',
  };
  for (const [table, copied] of Object.entries(tables)) {
    const query_params = { original: file.loadId, load: load.loadId, file: file.fileId };
    const isOf = (id: string): string => `load_id = {${id}: UInt64} AND file_id = {file: UInt64}`;
    const query = `SELECT toString(count()) AS number FROM ${table} WHERE`;
    const counts = await onEveryServer(engine, async (server) => ({
      server,
      originals: await selectNumber(server, { query: `${query} ${isOf('original')}`, query_params }),
      copies: await selectNumber(server, { query: `${query} ${isOf('load')}`, query_params }),
    }));
    const servers = counts.flat();
    const source = servers.find(({ copies }) => copies > 0)?.server;
    if (!source || servers.some(({ originals }) => originals > 0)) continue;
    await source.command({
      query: `INSERT INTO ${table} (load_id, ${copied}) SELECT {original: UInt64}, ${copied} FROM ${table} WHERE ${isOf('load')}`,
      query_params,
    });
  }
}

/** Returns the highest lane position among the rows of each partner. */
export async function findHighestSeqs(engine: Engine): Promise<{ partnerId: number; seq: number }[]> {
  const found = await selectFromShards<{ partner: string; seq: string }>(
    engine,
    ['device_attributes_local'],
    `SELECT toString(partner_id) AS partner, toString(intDiv(max(version), 2)) AS seq
     FROM device_attributes_local GROUP BY partner_id ORDER BY partner_id`,
  );
  return Array.from(
    Map.groupBy(found, ({ partner }) => partner),
    ([partner, seqs]) => ({
      partnerId: Number(partner),
      seq: Math.max(...seqs.map(({ seq }) => Number(seq))),
    }),
  );
}
