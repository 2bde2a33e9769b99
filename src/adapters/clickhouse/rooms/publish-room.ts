import type { Load } from '../../../ports/load-stage.ts';
import type { Shard } from '../connect.ts';
import { loadQueryPrefix, newQueryId } from '../query-ids.ts';
import { finalTables } from './open-room.ts';
import { roomNames } from './room-names.ts';

/** Of these loads, those that have a room on the shard. */
export async function findRooms(shard: Shard, loadIds: readonly number[]): Promise<Set<number>> {
  const byName = new Map(loadIds.map((loadId) => [roomNames(loadId).rows, loadId]));
  const result = await shard.query({
    query: `SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ({names: Array(String)})`,
    query_params: { names: [...byName.keys()] },
    format: 'JSONEachRow',
  });
  const found = await result.json<{ name: string }>();
  return new Set(found.flatMap(({ name }) => byName.get(name) ?? []));
}

export async function hasRoom(shard: Shard, loadId: number): Promise<boolean> {
  return (await findRooms(shard, [loadId])).has(loadId);
}

/** The room's files become files of the final table as well; nothing is written. */
export async function publishRoom(shard: Shard, load: Load): Promise<void> {
  if (!Number.isSafeInteger(load.partnerId)) throw new TypeError(`${load.partnerId} is no partition`);
  await shard.command({
    query: `ALTER TABLE ${finalTables[load.target.kind].table} ATTACH PARTITION ID '${load.partnerId}' FROM ${roomNames(load.loadId).rows}`,
    query_id: newQueryId(loadQueryPrefix(load.loadId), 'publish'),
  });
}
