import type { ClickHouseSettings } from '@clickhouse/client';
import type { CountedJob, DeviceCounts } from '../../../ports/audience-warehouse.ts';
import { onEveryShard, type Engine, type Shard } from '../connect.ts';
import { selectNumber } from '../count.ts';
import { jobQueryPrefix, newQueryId } from '../query-ids.ts';
import { selectCounts, sumCounts } from './device-counts.ts';
import { isInRange, rangesOfDevices, type DeviceRange } from './device-ranges.ts';
import { generationParameters, isOfGeneration } from './generation-sql.ts';

/** Rows of a granule: what is read of the known devices to find one of them. */
const granule = 8192;

/** A set of so many devices takes some tens of megabytes. */
const largestSet = 500_000;

/** Fewer devices are counted faster than they are divided. */
const worthDividing = 1_000_000;

/**
 * Small blocks: every part is a stream with blocks of its own, and they are what the merge keeps in memory, which so does
 * not grow with the devices.
 */
const settings: ClickHouseSettings = { join_algorithm: 'full_sorting_merge', max_block_size: '16384' };

/** Each device is on one shard, so the totals are sums. */
export async function countDevices(engine: Engine, of: CountedJob, about: number): Promise<DeviceCounts> {
  return sumCounts(await onEveryShard(engine, (shard) => countOnShard(shard, of, about / engine.shards.length)));
}

/** Few devices are looked up among the known ones; many are merged with all of them, a range on each processor. */
async function countOnShard(shard: Shard, of: CountedJob, about: number): Promise<DeviceCounts> {
  const known = await selectNumber(shard, {
    query: `SELECT toString(sum(rows)) AS number FROM system.parts
     WHERE active AND database = currentDatabase() AND table = 'known_devices_local'`,
  });
  if (about <= largestSet && about * granule < known) return select(shard, of, lookedUp);
  const ranges = about < worthDividing ? [{}] : await rangesOfDevices(shard);
  return sumCounts(await Promise.all(ranges.map((range) => select(shard, of, merged(range), range))));
}

const lookedUp = `
  SELECT
    (SELECT count() FROM (
      SELECT device FROM audience_devices_local WHERE ${isOfGeneration} ORDER BY device LIMIT 1 BY device
    )) AS unique,
    (SELECT count() FROM (
      SELECT device FROM known_devices_local
      WHERE device IN (SELECT device FROM audience_devices_local WHERE ${isOfGeneration}) GROUP BY device
    )) AS matched`;

/**
 * One pass over both tables, in the order in which their rows stand. The left side comes sorted and without doubles, and
 * ANY takes one of the right, so every row is a device.
 */
function merged(range: DeviceRange): string {
  return `
  SELECT count() AS unique, countIf(known.device = member.device) AS matched
  FROM (
    SELECT device FROM audience_devices_local WHERE ${isOfGeneration} AND ${isInRange(range)}
    ORDER BY device LIMIT 1 BY device
  ) AS member
  ANY LEFT JOIN (SELECT device FROM known_devices_local WHERE ${isInRange(range)}) AS known
    ON known.device = member.device`;
}

function select(shard: Shard, of: CountedJob, query: string, range: DeviceRange = {}): Promise<DeviceCounts> {
  return selectCounts(shard, {
    query,
    query_params: { ...generationParameters(of), ...range },
    query_id: newQueryId(jobQueryPrefix(of.id), 'count'),
    clickhouse_settings: settings,
  });
}
