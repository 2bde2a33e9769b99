import type { LaneStore } from '../../ports/lane-store.ts';
import { type FoldDeps, foldKnownDevices } from './fold-index.ts';

/** How often matched devices are counted again after imports have added devices. */
export const refreshMatchedEverySeconds = 60;

const audiencesAtATime = 1_000;

/**
 * Recounts the matched devices of every audience whose count is older than the known devices. The version is read before the known
 * devices are folded, so that the counts include at least the devices of that version.
 */
export async function refreshMatched(
  deps: FoldDeps & { readonly lanes: Pick<LaneStore, 'claimTurn'> },
  signal: AbortSignal,
): Promise<void> {
  const { index, indexStore, lanes, log } = deps;
  if (!(await lanes.claimTurn('refresh matched devices', refreshMatchedEverySeconds))) return;
  const version = await indexStore.knownVersion();
  if ((await indexStore.listStaleMatched(version, 1)).length === 0) return;
  await indexStore.runAlone(async () => {
    const leaseId = await indexStore.nextFoldId();
    await index.takeLease(leaseId);
    await foldKnownDevices(deps, leaseId);
    let refreshed = 0;
    for (;;) {
      const stale = signal.aborted ? [] : await indexStore.listStaleMatched(version, audiencesAtATime);
      if (stale.length === 0) break;
      const counts = await index.countMatched(stale);
      await indexStore.recordMatched(version, counts);
      refreshed += counts.length;
      // The others are being folded and are counted at the next turn.
      if (counts.length < stale.length) break;
    }
    log.info({ audiences: refreshed, version }, 'matched devices counted again');
  });
}
