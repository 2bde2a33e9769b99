import type { FoldedAudience, MatchedCount } from '../../../ports/device-index.ts';
import { type Engine, onEveryShardInSync } from '../connect.ts';
import { countMatchedStandIns } from '../count-stand-ins.ts';
import { bitmapKind } from './fold-audience.ts';
import { isKnownDevices } from './fold-known-devices.ts';
import { inFoldSession } from './session.ts';

const list = (ids: readonly number[]): string => `[${ids.map(Number).join()}]::Array(UInt64)`;

/** Suppressed devices are not in the index. */
async function countStandIns(engine: Engine, audiences: readonly FoldedAudience[]): Promise<Map<number, number>> {
  const isOfAudiences = `(partner_id, audience_id, toUInt64(generation)) IN (SELECT one.1, one.2, one.3 FROM (SELECT arrayJoin(arrayZip(
    ${list(audiences.map(({ partnerId }) => partnerId))}, ${list(audiences.map(({ audienceId }) => audienceId))},
    ${list(audiences.map(({ generation }) => generation))})) AS one))`;
  const ofShards = await onEveryShardInSync(engine, ['audience_devices_local', 'known_devices_local'], (shard) =>
    countMatchedStandIns(shard, isOfAudiences),
  );
  const total = new Map<number, number>();
  for (const [audience, devices] of ofShards.flatMap((counts) => [...counts]))
    total.set(audience, (total.get(audience) ?? 0) + devices);
  return total;
}

/**
 * Runs one statement per shard. The ID lists are part of the statement text, because query parameters are sent in the
 * URL.
 */
export async function countMatched(engine: Engine, audiences: readonly FoldedAudience[]): Promise<MatchedCount[]> {
  const query = `SELECT toString(m.audience_id) AS audience, toString(sum(bitmapAndCardinality(m.devices, k.devices))) AS matched,
      toString(sum(bitmapCardinality(m.devices))) AS devices
    FROM (
      SELECT audience_id, chunk, devices FROM audience_bitmaps_local FINAL
      WHERE kind = ${bitmapKind.all} AND has(${list([...new Set(audiences.map(({ partnerId }) => partnerId))])}, partner_id)
        AND (audience_id, toUInt64(generation), fold_id) IN (SELECT one.1, one.2, one.3 FROM (SELECT arrayJoin(arrayZip(
          ${list(audiences.map(({ audienceId }) => audienceId))}, ${list(audiences.map(({ generation }) => generation))},
          ${list(audiences.map(({ foldId }) => foldId))})) AS one))
    ) AS m LEFT JOIN (SELECT chunk, devices FROM attribute_bitmaps_local FINAL WHERE ${isKnownDevices}) AS k ON m.chunk = k.chunk
    GROUP BY audience`;
  const ofShards = await onEveryShardInSync(engine, ['attribute_bitmaps_local', 'audience_bitmaps_local'], (shard) =>
    inFoldSession(shard, (session) =>
      session.rows<{ audience: string; matched: string; devices: string }>(query, {
        settings: { max_query_size: '4194304' },
      }),
    ),
  );
  const ofStandIns = await countStandIns(engine, audiences);
  const counts = Map.groupBy(ofShards.flat(), ({ audience }) => Number(audience));
  const sum = (values: readonly string[]): number => values.reduce((total, value) => total + Number(value), 0);
  return audiences.flatMap((audience) => {
    const found = counts.get(audience.audienceId) ?? [];
    // A later fold may have replaced some of the bitmaps.
    if (sum(found.map(({ devices }) => devices)) !== audience.devices) return [];
    const matched = sum(found.map((row) => row.matched)) + (ofStandIns.get(audience.audienceId) ?? 0);
    return [{ ...audience, matched }];
  });
}
