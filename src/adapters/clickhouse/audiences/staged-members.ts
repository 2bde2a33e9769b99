import type { FilesOfLoad } from '../../../ports/audience-warehouse.ts';
import type { Shard } from '../connect.ts';
import { findRooms } from '../rooms/publish-room.ts';
import { roomNames } from '../rooms/room-names.ts';

/** A query of the staged rows (file_id, device) of these files on a shard, wherever they are staged. */
export async function stagedMembersSql(shard: Shard, loads: readonly FilesOfLoad[]): Promise<string> {
  const rooms = await findRooms(
    shard,
    loads.map(({ load }) => load.loadId),
  );
  const shared = loads.filter(({ load }) => !rooms.has(load.loadId));
  const ids = (values: readonly number[]): string => values.map((value) => `toUInt64(${value})`).join(', ');
  return [
    ...loads
      .filter(({ load }) => rooms.has(load.loadId))
      .map(
        ({ load, fileIds }) =>
          `SELECT file_id, device FROM ${roomNames(load.loadId).rows} WHERE file_id IN (${ids(fileIds)})`,
      ),
    ...(shared.length === 0
      ? []
      : [
          `SELECT file_id, device FROM staged_members_local WHERE load_id IN (${ids(shared.map(({ load }) => load.loadId))})
          AND file_id IN (${ids(shared.flatMap(({ fileIds }) => fileIds))})`,
        ]),
  ].join('\nUNION ALL ');
}
