import { type Server, selectRows } from './connect.ts';
import { isStandIn, mayBeStandIn, personOf, standInScope } from './stand-in-sql.ts';

/**
 * Counts the suppressed devices of audiences that are also among the known devices, on one shard. They are not in the device index,
 * and their rows in different tables have different stand-ins. `isOfAudiences` selects rows of `audience_devices_local`. Returns
 * counts by audience.
 */
export async function countMatchedStandIns(
  shard: Server,
  isOfAudiences: string,
  query_params: Readonly<Record<string, unknown>> = {},
): Promise<Map<number, number>> {
  const known = `known_devices_local WHERE ${isStandIn(standInScope.known)}`;
  // Usually, no device is suppressed, and the rows of the audiences need not be read.
  const found = await selectRows(shard, `SELECT 1 FROM ${known} LIMIT 1`);
  if (found.length === 0) return new Map();
  const result = await shard.query({
    query: `SELECT toString(audience_id) AS audience, toString(uniqExact(partner_id, generation, ${personOf('device')})) AS devices
      FROM audience_devices_local
      WHERE ${isOfAudiences} AND ${mayBeStandIn()} AND ${isStandIn(standInScope.audience())}
        AND ${personOf('device')} IN (SELECT ${personOf('device')} FROM ${known})
      GROUP BY audience_id`,
    query_params: { ...query_params },
    format: 'JSONEachRow',
    // The statement contains a list of audiences.
    clickhouse_settings: { max_query_size: '4194304' },
  });
  const rows = await result.json<{ audience: string; devices: string }>();
  return new Map(rows.map(({ audience, devices }) => [Number(audience), Number(devices)]));
}

/**
 * Counts how often devices that match the condition are counted more than once in `device_attributes_local`, because a suppressed
 * device has a stand-in for each attribute.
 */
export function repeatedStandInsSql(condition: string, final: '' | 'FINAL'): string {
  return `SELECT toString(uniqExact(device) - uniqExact(${personOf('device')})) AS number FROM device_attributes_local ${final}
    WHERE ${condition} AND ${mayBeStandIn()} AND ${isStandIn(standInScope.attribute())}`;
}

/** Selects the devices of attribute rows as known devices, each once. */
export function devicesOfRowsSql(condition: string, final: '' | 'FINAL', knownStandIn: string): string {
  const isOther = isStandIn(standInScope.attribute());
  const from = `FROM device_attributes_local ${final} WHERE ${condition}`;
  return `SELECT device ${from} AND NOT ${isOther} GROUP BY device
    UNION ALL SELECT DISTINCT ${knownStandIn} AS device FROM (SELECT device, attribute_id ${from} AND ${mayBeStandIn()} AND ${isOther})`;
}
