import type { ClickHouseSettings } from '@clickhouse/client';
import type { Generation } from '../../../ports/audience-warehouse.ts';
import { onEveryShard, type Engine, type Shard } from '../connect.ts';
import { jobQueryPrefix, newQueryId } from '../query-ids.ts';
import { generationParameters, isOfGeneration } from './generation-sql.ts';

type Counted = Generation & { readonly id: number };

/**
 * Distinct devices of an audience, and how many of them an import has brought. Both are counted in the order in which
 * the rows stand, so that memory does not grow with them; each device is on one shard, so the totals are sums.
 */
export async function countDevices(engine: Engine, of: Counted): Promise<{ unique: number; matched: number }> {
  const counts = await onEveryShard(engine, async (shard) => {
    const unique = await countUnique(shard, of);
    return { unique, matched: unique === 0 ? 0 : await countMatched(shard, of, unique) };
  });
  return counts.reduce((sum, count) => ({ unique: sum.unique + count.unique, matched: sum.matched + count.matched }));
}

async function countUnique(shard: Shard, of: Counted): Promise<number> {
  return countOne(
    shard,
    of,
    `SELECT toString(count()) AS devices
     FROM (SELECT device FROM audience_devices_local WHERE ${isOfGeneration} GROUP BY device)`,
  );
}

/** Small blocks: every part is a stream with blocks of its own, and they are what the merge keeps in memory. */
const settings: ClickHouseSettings = {
  join_algorithm: 'full_sorting_merge',
  optimize_aggregation_in_order: 1,
  max_block_size: '16384',
};

/** Rows of a granule: what is read of the known devices to find one of them. */
const granule = 8192;

/** A set of so many devices takes some tens of megabytes. */
const largestSet = 500_000;

/**
 * Few devices are looked up; many are merged with all that are known. The merge names the two tables themselves, not a
 * query of them: only so are both read in order. ANY counts a device once, however often it stands on either side.
 */
async function countMatched(shard: Shard, of: Counted, unique: number): Promise<number> {
  const known = await countOne(
    shard,
    of,
    `SELECT toString(sum(rows)) AS devices FROM system.parts
     WHERE active AND database = currentDatabase() AND table = 'known_devices_local'`,
  );
  const isCheaperToLookUp = unique <= largestSet && unique * granule < known;
  return countOne(
    shard,
    of,
    isCheaperToLookUp
      ? `SELECT toString(count()) AS devices FROM (
           SELECT device FROM known_devices_local
           WHERE device IN (SELECT device FROM audience_devices_local WHERE ${isOfGeneration}) GROUP BY device
         )`
      : `SELECT toString(count()) AS devices FROM audience_devices_local AS member
         ANY INNER JOIN known_devices_local AS known ON known.device = member.device WHERE ${isOfGeneration}`,
  );
}

async function countOne(shard: Shard, of: Counted, query: string): Promise<number> {
  const result = await shard.query({
    query,
    query_params: generationParameters(of),
    query_id: newQueryId(jobQueryPrefix(of.id), 'count'),
    format: 'JSONEachRow',
    clickhouse_settings: settings,
  });
  const [row] = await result.json<{ devices: string }>();
  return Number(row?.devices ?? 0);
}
