import type { Counting } from '../../../domain/composition/counts.ts';
import type { WarehouseAttribute } from '../../../ports/warehouse.ts';
import { memberRank } from './members.ts';
import type { ReportSession } from './report-session.ts';

export type CellOfShard = {
  readonly attributeId: number;
  /** The value of the split dimension. For events, the position in the list of reported events. */
  readonly value: string;
  readonly devices: number;
  readonly warehouseDevices: number;
  readonly state: bigint;
};

const valueOf: Readonly<Record<Counting, string>> = {
  none: "''",
  id_type: 'toString(t.id_type)',
  country: 'toString(t.country)',
  event: 'toString(m.place)',
  first_event: 'toString(m.place)',
};

const columnOf: Partial<Readonly<Record<Counting, string>>> = { id_type: ', id_type', country: ', country' };

const isFirstRow = `m.rank NOT IN (${memberRank.further}, ${memberRank.unknownFurther})`;

/**
 * Counts one attribute on one shard by merging its current rows with the members. Both are read in device order, so
 * nothing needs to be sorted. A member with several events has several rows, and only the first one is included in the
 * warehouse count. The state includes the number of members that have the attribute but are not known devices yet,
 * because the result changes when they become known.
 */
export async function countAttribute(
  session: ReportSession,
  attribute: WarehouseAttribute,
  counting: Counting,
): Promise<CellOfShard[]> {
  const rows = await session.rows<{ value: string; devices: string; warehouse: string; state: string }>(
    `SELECT ${valueOf[counting]} AS value,
       toString(countIf(m.rank IN (${memberRank.first}, ${memberRank.further}))) AS devices,
       toString(countIf(${isFirstRow})) AS warehouse,
       toString(sum(if(${isFirstRow}, sipHash64Keyed((SELECT (low, high) FROM report_key), t.device), 0))
         + countIf(m.rank = ${memberRank.unknown})) AS state
     FROM (
       SELECT device${columnOf[counting] ?? ''} FROM device_attributes_local FINAL
       WHERE partner_id = {partner: UInt64} AND attribute_id = {attribute: UInt64}
     ) AS t LEFT JOIN report_members AS m ON t.device = m.device GROUP BY value`,
    { partner: attribute.partnerId, attribute: attribute.id },
  );
  return rows.map(({ value, devices, warehouse, state }) => ({
    attributeId: attribute.id,
    value,
    devices: Number(devices),
    warehouseDevices: Number(warehouse),
    state: BigInt(state),
  }));
}
