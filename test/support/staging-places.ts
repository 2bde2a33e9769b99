import { inject } from 'vitest';
import type { Topology } from '../../stack/service-environment.ts';
import { selectOnShards } from './shard-tables.ts';
import type { TestStores } from './stores.ts';

/**
 * The tables in which a load's rows are staged. Small loads share a staging table, and large loads have their own
 * tables.
 */
export const places = [
  { place: 'the shared staging table', roomBytes: 1_000_000_000 },
  { place: 'its own tables', roomBytes: 1 },
] as const;

const [shared, own] = places;

/** The acceptance tests use the shared staging table on two shards, so the gate leaves out that combination. */
export const placesOnTopologies: readonly { place: string; roomBytes: number; topology: Topology }[] =
  inject('campaign') === 'long'
    ? places.flatMap((place) => [
        { ...place, topology: 'one' as const },
        { ...place, topology: 'two' as const },
      ])
    : [
        { ...shared, topology: 'one' },
        { ...own, topology: 'two' },
      ];

/** Returns the IDs of all loads that have staged rows in either kind of table. */
export async function stagedLoads(stores: TestStores): Promise<string[]> {
  return selectOnShards(
    stores,
    `SELECT DISTINCT toString(load_id) FROM staged_members_local
     UNION ALL SELECT DISTINCT toString(load_id) FROM staged_attributes_local
     UNION ALL SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'room_')`,
  );
}
