import { onEveryShard, type Engine } from '../connect.ts';
import { everyTableOf, loadOfTable } from './room-names.ts';

const roomsAtATime = 50;

/** Returns when no statement uses the rooms any more and their files are gone. A load without a room costs nothing. */
export async function closeRooms(engine: Engine, loadIds: readonly number[]): Promise<void> {
  for (let start = 0; start < loadIds.length; start += roomsAtATime) {
    const tables = loadIds.slice(start, start + roomsAtATime).flatMap(everyTableOf);
    await onEveryShard(engine, (shard) =>
      shard.command({
        query: `DROP TABLE IF EXISTS ${tables.join(', ')} SYNC`,
        // By default the engine refuses to drop 50 GB and more.
        clickhouse_settings: { max_table_size_to_drop: '0' },
      }),
    );
  }
}

/** The loads that have a room somewhere. */
export async function listRooms(engine: Engine): Promise<number[]> {
  const names = await onEveryShard(engine, async (shard) => {
    const result = await shard.query({
      query: `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'room_')`,
      format: 'JSONEachRow',
    });
    return result.json<{ name: string }>();
  });
  return [...new Set(names.flat().flatMap(({ name }) => loadOfTable(name) ?? []))];
}
