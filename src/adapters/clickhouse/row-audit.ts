import type { AuditEngine } from '../../ports/row-audit.ts';
import { generationParameters, isOfGeneration } from './audience-warehouse.ts';
import { repeatedStandInsSql } from './count-stand-ins.ts';
import { type Engine, selectFromShards, selectNumber, sumOverShards } from './connect.ts';

const tables = ['device_attributes_local', 'audience_devices_local'];

/** Each device is on one shard. Devices are counted with bounded memory, because an import can have a billion of them. */
export function clickhouseAuditEngine(engine: Engine): AuditEngine {
  const countDistinct = (table: string, condition: string, query_params: Record<string, number>): Promise<number> =>
    sumOverShards(engine, [table], (shard) =>
      selectNumber(shard, {
        query: `SELECT toString(count()) AS number FROM (SELECT device FROM ${table} WHERE ${condition} GROUP BY device)`,
        query_params,
        clickhouse_settings: { max_bytes_before_external_group_by: '268435456' },
      }),
    );
  return {
    countDevicesOfJob: async (partnerId, { ofAdds, ofDeletes }) => {
      const condition = 'partner_id = {partner: UInt64} AND version IN ({adds: UInt64}, {deletes: UInt64})';
      const query_params = { partner: partnerId, adds: ofAdds, deletes: ofDeletes };
      const devices = await countDistinct('device_attributes_local', condition, query_params);
      const query = repeatedStandInsSql(condition, '');
      const repeated = await sumOverShards(engine, ['device_attributes_local'], (shard) =>
        selectNumber(shard, { query, query_params }),
      );
      return devices - repeated;
    },
    countDevicesOfAudience: (generation) =>
      countDistinct('audience_devices_local', isOfGeneration, generationParameters(generation)),
    listPartners: async (partnerId) => {
      const found = await selectFromShards<{ id: string }>(
        engine,
        tables,
        `SELECT DISTINCT partition_id AS id FROM system.parts WHERE active AND rows > 0 AND database = currentDatabase()
           AND table IN ('device_attributes_local', 'audience_devices_local')`,
      );
      const ids = [...new Set(found.map(({ id }) => Number(id)))].toSorted((one, other) => one - other);
      return partnerId === null ? ids : ids.filter((id) => id === partnerId);
    },
    countRowsOfJobs: async (partnerId) => {
      const found = await selectFromShards<{ seq: string; rows: string }>(
        engine,
        ['device_attributes_local'],
        `SELECT toString(intDiv(version, 2)) AS seq, toString(count()) AS rows FROM device_attributes_local FINAL
         WHERE partner_id = {partner: UInt64} GROUP BY seq`,
        { partner: partnerId },
      );
      return Array.from(
        Map.groupBy(found, ({ seq }) => seq),
        ([seq, counts]) => ({
          seq: Number(seq),
          rows: sumOf(counts),
        }),
      ).toSorted((one, other) => one.seq - other.seq);
    },
    countRowsOfAudiences: async (partnerId) => {
      const found = await selectFromShards<{ audience: string; generation: number; rows: string }>(
        engine,
        ['audience_devices_local'],
        `SELECT toString(audience_id) AS audience, generation, toString(count()) AS rows FROM audience_devices_local
         WHERE partner_id = {partner: UInt64} GROUP BY audience_id, generation`,
        { partner: partnerId },
      );
      return [...Map.groupBy(found, ({ audience, generation }) => `${audience} ${generation}`).values()].flatMap(
        (counts) => {
          const [first] = counts;
          if (!first) return [];
          return { audienceId: Number(first.audience), generation: first.generation, rows: sumOf(counts) };
        },
      );
    },
  };
}

function sumOf(counts: readonly { readonly rows: string }[]): number {
  return counts.reduce((sum, { rows }) => sum + Number(rows), 0);
}
