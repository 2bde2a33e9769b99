import type { AuditEngine } from '../../ports/row-audit.ts';
import { generationParameters, isOfGeneration } from './audience-warehouse.ts';
import { type Engine, selectNumber, sumOverShards } from './connect.ts';

/** Each device is on one shard. Devices are counted with bounded memory, because an import can have a billion of them. */
export function clickhouseAuditEngine(engine: Engine): AuditEngine {
  const countDistinct = (table: string, condition: string, query_params: Record<string, number>): Promise<number> =>
    sumOverShards(engine, (shard) =>
      selectNumber(shard, {
        query: `SELECT toString(count()) AS number FROM (SELECT device FROM ${table} WHERE ${condition} GROUP BY device)`,
        query_params,
        clickhouse_settings: { max_bytes_before_external_group_by: '268435456' },
      }),
    );
  return {
    countDevicesOfJob: (partnerId, { ofAdds, ofDeletes }) =>
      countDistinct(
        'device_attributes_local',
        'partner_id = {partner: UInt64} AND version IN ({adds: UInt64}, {deletes: UInt64})',
        { partner: partnerId, adds: ofAdds, deletes: ofDeletes },
      ),
    countDevicesOfAudience: (generation) =>
      countDistinct('audience_devices_local', isOfGeneration, generationParameters(generation)),
  };
}
