import type { Load } from '../../../ports/load-stage.ts';
import { onEveryShard, type Engine } from '../connect.ts';
import { loadQueryPrefix, newQueryId } from '../query-ids.ts';
import { hasRoom } from '../rooms/publish-room.ts';
import { roomNames } from '../rooms/room-names.ts';
import { generationParameters, isOfGeneration } from './generation-sql.ts';

/**
 * Distinct devices of each file. Each device is on one shard, so the totals are sums. Read in the order of the stage,
 * where the same devices are neighbours: LIMIT BY takes little memory and half the CPU of GROUP BY.
 */
export async function countUploaded(
  engine: Engine,
  load: Load,
  fileIds: readonly number[],
): Promise<Map<number, number>> {
  const { loadId, partnerId, target } = load;
  if (target.kind !== 'audience') throw new TypeError(`load ${loadId} is not for an audience`);
  const totals = new Map<number, number>();
  await onEveryShard(engine, async (shard) => {
    const result = await shard.query({
      query: (await hasRoom(shard, loadId)) ? inRoom(loadId, fileIds) : inSharedStage,
      query_params: { load: loadId, files: fileIds, ...generationParameters({ partnerId, ...target }) },
      query_id: newQueryId(loadQueryPrefix(loadId), 'count'),
      format: 'JSONEachRow',
    });
    for (const { file, devices } of await result.json<{ file: string; devices: string }>()) {
      totals.set(Number(file), (totals.get(Number(file)) ?? 0) + Number(devices));
    }
  });
  return totals;
}

const isOneOfThese = 'file_id IN ({files: Array(UInt64)})';

const inSharedStage = `
  SELECT toString(file_id) AS file, toString(count()) AS devices FROM (
    SELECT file_id, device FROM staged_members_local WHERE load_id = {load: UInt64} AND ${isOneOfThese}
    ORDER BY file_id, device LIMIT 1 BY file_id, device
  ) GROUP BY file_id`;

/**
 * A room is in order of device, behind what all its rows have in common: only when that is named are they read in order.
 * Many files are small ones: a set for each takes a third of the time that one for all of them takes.
 */
function inRoom(loadId: number, fileIds: readonly number[]): string {
  const { rows } = roomNames(loadId);
  const [only, ...others] = fileIds;
  if (others.length > 0) {
    return `SELECT toString(file_id) AS file, toString(uniqExact(device)) AS devices FROM ${rows}
      WHERE ${isOneOfThese} GROUP BY file_id`;
  }
  const devices = `SELECT device FROM ${rows} WHERE ${isOfGeneration} AND ${isOneOfThese} ORDER BY device LIMIT 1 BY device`;
  return `SELECT '${String(only)}' AS file, toString(count()) AS devices FROM (${devices})`;
}
