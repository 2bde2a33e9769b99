import type { KnownDevicesRebuild } from '../../ports/warehouse.ts';

export type RebuildDeps = {
  readonly knownDevices: KnownDevicesRebuild;
  /** Marks the matched counts of all audiences as stale. */
  readonly advanceKnownDevices: () => Promise<void>;
};

/**
 * Replaces the known devices with the devices that have a live attribute row. Imports can run at the same time. If the
 * rebuild is interrupted, the next run starts over. The live table is complete at all times.
 */
export async function rebuildKnownDevices({
  knownDevices,
  advanceKnownDevices,
}: RebuildDeps): Promise<{ readonly before: number; readonly after: number }> {
  const before = await knownDevices.count();
  await knownDevices.begin();
  await knownDevices.fill();
  await knownDevices.swap();
  // A count that ran during the swap has an older version and is therefore repeated.
  await advanceKnownDevices();
  await knownDevices.dropOld();
  return { before, after: await knownDevices.count() };
}
