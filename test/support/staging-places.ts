import { inject } from 'vitest';
import type { Topology } from '../../stack/service-environment.ts';

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
