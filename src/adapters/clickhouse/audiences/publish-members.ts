import type { Load } from '../../../ports/load-stage.ts';
import { onEveryShard, type Engine, type Shard } from '../connect.ts';
import { loadQueryPrefix, newQueryId } from '../query-ids.ts';
import { hasRoom, publishRoom } from '../rooms/publish-room.ts';
import { roomNames } from '../rooms/room-names.ts';

/** From stage to audience, on each shard for itself. An audience is a set: repeating it changes nothing. */
export async function publishMembers(engine: Engine, load: Load, fileIds: readonly number[]): Promise<void> {
  await onEveryShard(engine, async (shard) => {
    const isShared = !(await hasRoom(shard, load.loadId));
    if (isShared) return copyMembers(shard, load, fileIds, 'staged_members_local WHERE load_id = {load: UInt64}');
    const { rows } = roomNames(load.loadId);
    // A room that also has rows of a file that failed cannot be taken as a whole.
    if (await hasOtherFiles(shard, rows, fileIds)) return copyMembers(shard, load, fileIds, `${rows} WHERE true`);
    await publishRoom(shard, load);
  });
}

async function hasOtherFiles(shard: Shard, rows: string, fileIds: readonly number[]): Promise<boolean> {
  const result = await shard.query({
    query: `SELECT 1 AS found FROM ${rows} WHERE file_id NOT IN ({files: Array(UInt64)}) LIMIT 1`,
    query_params: { files: fileIds },
    format: 'JSONEachRow',
  });
  return (await result.json()).length > 0;
}

async function copyMembers(shard: Shard, load: Load, fileIds: readonly number[], from: string): Promise<void> {
  if (load.target.kind !== 'audience') throw new TypeError(`load ${load.loadId} is not for an audience`);
  const { audienceId, generation } = load.target;
  await shard.command({
    query: `
      INSERT INTO audience_devices_local (partner_id, audience_id, generation, device, event, file_id)
      SELECT {partner: UInt64}, {audience: UInt64}, {generation: UInt32}, device, event, file_id
      FROM ${from} AND file_id IN ({files: Array(UInt64)})`,
    query_id: newQueryId(loadQueryPrefix(load.loadId), 'publish'),
    query_params: { partner: load.partnerId, audience: audienceId, generation, load: load.loadId, files: fileIds },
    clickhouse_settings: { optimize_on_insert: 0 },
  });
}
