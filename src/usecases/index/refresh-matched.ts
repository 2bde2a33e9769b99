import type { DeviceIndex, IndexStore } from '../../ports/device-index.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { Log } from '../../ports/observability.ts';
import { foldKnownDevices, takeLease, whileFoldsWait } from './fold-index.ts';

/** How often matched devices are counted again after imports have added devices. */
export const refreshMatchedEverySeconds = 60;

const audiencesAtATime = 1_000;

type Deps = {
  readonly index: Pick<DeviceIndex, 'takeLease' | 'foldKnownDevices' | 'countMatched'>;
  readonly indexStore: Pick<
    IndexStore,
    | 'runAlone'
    | 'nextFoldId'
    | 'knownVersion'
    | 'listStaleMatched'
    | 'listFoldedBlocks'
    | 'recordKnownDevices'
    | 'recordMatched'
  >;
  readonly lanes: Pick<LaneStore, 'claimTurn'>;
  readonly log: Log;
};

/**
 * Recounts the matched devices of every audience whose count is older than the current version of the known devices.
 * The version is read before the known devices are folded, so that the counts include at least the devices of that
 * version.
 */
export async function refreshMatched(deps: Deps, signal: AbortSignal): Promise<void> {
  const { index, indexStore, lanes, log } = deps;
  if (!(await lanes.claimTurn('refresh matched devices', refreshMatchedEverySeconds))) return;
  const version = await indexStore.knownVersion();
  if ((await indexStore.listStaleMatched(version, 1)).length === 0) return;
  const refresh = async (): Promise<void> => {
    await foldKnownDevices(deps, await takeLease(deps));
    let refreshed = 0;
    for (;;) {
      const stale = signal.aborted ? [] : await indexStore.listStaleMatched(version, audiencesAtATime);
      if (stale.length === 0) break;
      const counts = await index.countMatched(stale);
      await indexStore.recordMatched(version, counts);
      refreshed += counts.length;
      // The remaining audiences are being folded and are counted in the next turn.
      if (counts.length < stale.length) break;
    }
    log.info({ audiences: refreshed, version }, 'matched devices counted again');
  };
  await whileFoldsWait(deps, refresh, { maxMs: refreshMatchedEverySeconds * 1000, signal });
}
