import type { Topology } from '../../stack/service-environment.ts';
import { selectOnShards } from './shard-tables.ts';
import type { TestStores } from './stores.ts';

/** Where a load's rows are staged: in the staging table that small loads share, or in their own tables. */
export const places = [
  { place: 'the shared stage', roomBytes: 1_000_000_000 },
  { place: 'a room', roomBytes: 1 },
] as const;

export const placesOnTopologies: readonly { place: string; roomBytes: number; topology: Topology }[] = places.flatMap(
  (place) => [
    { ...place, topology: 'one' as const },
    { ...place, topology: 'two' as const },
  ],
);

/** All staged rows, in either place. */
export async function stagedLoads(stores: TestStores): Promise<string[]> {
  return selectOnShards(
    stores,
    `SELECT DISTINCT toString(load_id) FROM staged_members_local
     UNION ALL SELECT DISTINCT toString(load_id) FROM staged_attributes_local
     UNION ALL SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'room_')`,
  );
}
