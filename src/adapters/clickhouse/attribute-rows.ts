import type { AttributeRows } from '../../ports/warehouse.ts';
import { onEveryShard, type Engine } from './connect.ts';
import { mutate } from './mutate.ts';

const condition = `partner_id = {partner: UInt64} AND attribute_id IN ({attributes: Array(UInt64)})
  AND version <= {version: UInt64}`;

function parametersOf({ partnerId, attributeIds, versions }: AttributeRows) {
  return { partner: partnerId, attributes: attributeIds, version: versions.ofAdds };
}

/** What the partner has of these attributes now: each device is on one shard, so the totals are sums. */
export async function countAttributeRows(
  engine: Engine,
  rows: AttributeRows,
): Promise<{ rows: number; devices: number }> {
  const counts = await onEveryShard(engine, async (shard) => {
    const result = await shard.query({
      query: `
        SELECT toString(sum(attributes)) AS rows, toString(count()) AS devices FROM (
          SELECT device, count() AS attributes FROM device_attributes_local FINAL WHERE ${condition} GROUP BY device
        )`,
      query_params: parametersOf(rows),
      format: 'JSONEachRow',
      clickhouse_settings: { max_bytes_before_external_group_by: '268435456' },
    });
    const [row] = await result.json<{ rows: string; devices: string }>();
    return { rows: Number(row?.rows ?? 0), devices: Number(row?.devices ?? 0) };
  });
  return counts.reduce((sum, count) => ({ rows: sum.rows + count.rows, devices: sum.devices + count.devices }));
}

/**
 * A mutation, not a lightweight delete: the parts are written anew without the rows before this returns. Only the
 * partner's own partition is touched. The version guards later imports against a process that wakes up late.
 */
export async function deleteAttributeRows(engine: Engine, rows: AttributeRows): Promise<void> {
  if (!Number.isSafeInteger(rows.partnerId)) throw new TypeError(`${rows.partnerId} is no partition`);
  await onEveryShard(engine, (shard) =>
    mutate(shard, 'device_attributes_local', {
      query: `ALTER TABLE device_attributes_local DELETE IN PARTITION ID '${rows.partnerId}' WHERE ${condition}`,
      query_params: parametersOf(rows),
      partitions: [rows.partnerId],
    }),
  );
}
