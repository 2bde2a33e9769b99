import { type OverlapCounts, intersectionsOf } from '../../../domain/composition/overlap.ts';
import type { FoldedAudience } from '../../../ports/device-index.ts';
import type { OverlapCounter } from '../../../ports/report-store.ts';
import { type Engine, onEveryShardInSync } from '../connect.ts';
import { bitmapKind } from './fold-audience.ts';

type ShardOverlap = {
  readonly contents: readonly string[];
  readonly devices: readonly string[];
  readonly intersections: readonly string[];
  readonly reach: string;
};

/** Each device is stored on exactly one shard, so counts are sums over the shards. */
export function clickhouseOverlapCounter(engine: Engine): OverlapCounter {
  return {
    count: async (audiences, signal) => {
      const query = overlapSql(audiences);
      const shards = await onEveryShardInSync(engine, ['audience_bitmaps_local'], async (shard) => {
        const result = await shard.query({
          query,
          format: 'JSONEachRow',
          abort_signal: signal,
          clickhouse_settings: { max_memory_usage: '2147483648' },
        });
        const [row] = await result.json<ShardOverlap>();
        if (!row) throw new Error('an aggregate query returned no row');
        return row;
      });
      return addShards(shards, audiences);
    },
  };
}

const sum = (values: readonly (string | undefined)[]): number =>
  values.reduce((total, value) => total + Number(value ?? 0), 0);

function addShards(shards: readonly ShardOverlap[], audiences: readonly FoldedAudience[]): OverlapCounts | null {
  const counted = audiences.map(({ audienceId, devices }, position) => ({
    audienceId,
    content: shards.map(({ contents }) => contents[position]).join(),
    devices: sum(shards.map((shard) => shard.devices[position])),
    expected: devices,
  }));
  // A different number means that a later fold has replaced bitmaps in the meantime.
  if (counted.some(({ devices, expected }) => devices !== expected)) return null;
  return {
    audiences: counted.map(({ audienceId, content, devices }) => ({ audienceId, content, devices })),
    intersections: intersectionsOf(audiences.length).map((_, index) =>
      sum(shards.map(({ intersections }) => intersections[index])),
    ),
    reach: sum(shards.map(({ reach }) => reach)),
  };
}

/**
 * Intersects the bitmaps of the audiences chunk by chunk. An audience without devices in a chunk has an empty bitmap
 * there. The IDs are written into the statement, because its text depends on the number of audiences anyway.
 */
function overlapSql(audiences: readonly FoldedAudience[]): string {
  const isAudience = ({ partnerId, audienceId, generation, foldId }: FoldedAudience): string =>
    `(partner_id = ${partnerId} AND audience_id = ${audienceId} AND generation = ${generation} AND fold_id = ${foldId})`;
  const bitmaps = audiences.map((audience, n) => `groupBitmapMergeStateIf(devices, ${isAudience(audience)}) AS b${n}`);
  const contents = audiences.map((audience, n) => `groupArrayIf((chunk, content), ${isAudience(audience)}) AS c${n}`);
  const intersect = (positions: readonly number[]): string => {
    const [first, ...rest] = positions.map((n) => `b${n}`);
    return rest.reduce((left, right) => `bitmapAnd(${left}, ${right})`, first ?? '');
  };
  const all = audiences.map((_, n) => n);
  const union = all.map((n) => `b${n}`).reduce((left, right) => `bitmapOr(${left}, ${right})`);
  const counts = (sets: readonly (readonly number[])[]): string =>
    `[${sets.map((positions) => `toString(sum(bitmapCardinality(${intersect(positions)})))`).join()}]`;
  return `
    SELECT [${all.map((n) => `hex(sipHash128(arraySort(groupArrayArray(c${n}))))`).join()}] AS contents,
      ${counts(all.map((n) => [n]))} AS devices, ${counts(intersectionsOf(audiences.length))} AS intersections,
      toString(sum(bitmapCardinality(${union}))) AS reach
    FROM (
      SELECT chunk, ${[...bitmaps, ...contents].join(', ')} FROM audience_bitmaps_local FINAL
      WHERE kind = ${bitmapKind.all} AND (${audiences.map(isAudience).join(' OR ')}) GROUP BY chunk
    )`;
}
