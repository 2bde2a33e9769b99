import type { KnownDevicesRebuild, KnownDevicesStore } from '../../ports/known-devices.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { Log } from '../../ports/observability.ts';

export type RebuildDeps = {
  readonly knownDevices: KnownDevicesRebuild;
  readonly knownDevicesStore: Pick<KnownDevicesStore, 'advance' | 'recordRebuild'>;
};

export type RebuiltDevices = { readonly before: number; readonly after: number };

/**
 * Replaces the known devices with the devices that have a live attribute row. Imports can run at the same time. If the
 * rebuild is interrupted, the next run starts over. The live table is complete at all times.
 */
export async function rebuildKnownDevices(
  { knownDevices, knownDevicesStore: store }: RebuildDeps,
  signal: AbortSignal,
): Promise<RebuiltDevices> {
  await knownDevices.finishSwap();
  const before = await knownDevices.count();
  const next = await knownDevices.begin();
  try {
    await knownDevices.fill(signal);
    signal.throwIfAborted();
  } catch (error) {
    // Otherwise, imports would write to both tables until the next rebuild. The next rebuild can also drop the table.
    await knownDevices.abandon(next).catch(() => undefined);
    throw error;
  }
  await knownDevices.swap(next);
  // A count that ran during the swap has an older version and is therefore repeated.
  await store.advance();
  await knownDevices.dropOld();
  const after = await knownDevices.count();
  await store.recordRebuild();
  return { before, after };
}

/** Every worker tries more often, so that an attempt takes place even if workers are restarted often. */
const forgetTriedAgainSeconds = 3_600;
export const forgetTriedEverySeconds = 300;

type ForgetDeps = {
  readonly lanes: Pick<LaneStore, 'claimTurn'>;
  readonly knownDevices: KnownDevicesRebuild;
  readonly knownDevicesStore: KnownDevicesStore;
  /** Days between two rebuilds. 0 disables rebuilds. */
  readonly rebuildDays: number;
  readonly log: Log;
};

/**
 * Forgets devices for which no partner has an attribute. Only one worker at a time does this. A rebuild that fails or
 * gives way to a migration or a backup is tried again an hour later.
 */
export async function forgetUnheldDevices(deps: ForgetDeps, signal: AbortSignal): Promise<void> {
  const { lanes, knownDevicesStore: store, rebuildDays, log } = deps;
  if (rebuildDays === 0 || !(await store.isRebuildDue(rebuildDays))) return;
  if (!(await lanes.claimTurn('rebuild known devices', forgetTriedAgainSeconds))) return;
  const start = performance.now();
  const rebuild = async (untilRequested: AbortSignal): Promise<void> => {
    const devices = await rebuildKnownDevices(deps, untilRequested);
    log.info({ ...devices, seconds: Math.round((performance.now() - start) / 1000) }, 'known devices rebuilt');
  };
  if (!(await store.runBetweenMigrations(rebuild, signal)))
    log.info({}, 'the rebuild of the known devices gives way to a migration or a backup');
}
