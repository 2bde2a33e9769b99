import type { DeviceIndex, Fold, IndexChange, IndexStore } from '../../ports/device-index.ts';
import type { Log } from '../../ports/observability.ts';
import { pause } from '../admin/pause.ts';

export type FoldDeps = { readonly index: DeviceIndex; readonly indexStore: IndexStore; readonly log: Log };

/** How often every worker checks for changes. One worker at a time folds them. */
export const foldEverySeconds = 1;

const changesAtATime = 100;

/** After this time, a worker releases the lock, so that other work can get it even if new changes keep arriving. */
const maxTurnMs = 5_000;

/** A change whose fold failed is not retried for this long, so that it does not delay other changes. */
const retryAfterSeconds = 30;

/**
 * Brings the device index up to date. A fold reads the rows that were published before it started, so a change that is
 * noted during a fold is left to the next fold. If a fold is interrupted, the next fold repeats it. After a failure,
 * statements of the failed fold may still be running. The next fold therefore takes a new lease, which stops them.
 */
export async function foldIndex(deps: FoldDeps, signal: AbortSignal): Promise<void> {
  const { index, indexStore, log } = deps;
  if (!(await indexStore.hasChanges())) return;
  await indexStore.runAlone(async () => {
    let leaseId = await takeLease(deps);
    const recover = async (error: unknown, changes: readonly IndexChange[]): Promise<void> => {
      await index.requireLease(leaseId);
      const ids = changes.flatMap((change) => change.ids);
      log.error(
        { partnerIds: changes.map(({ partnerId }) => partnerId), err: error },
        'cannot update the device index',
      );
      await indexStore.postpone(ids, retryAfterSeconds);
      leaseId = await takeLease(deps);
    };
    const end = performance.now() + maxTurnMs;
    while (performance.now() < end) {
      const changes = await indexStore.listChanges(changesAtATime);
      if (changes.length === 0) return;
      const ofAttributes = changes.filter(({ audienceId }) => audienceId === null);
      try {
        if (ofAttributes.length > 0) await foldKnownDevices(deps, leaseId);
      } catch (error) {
        await recover(error, ofAttributes);
        continue;
      }
      for (const change of changes) {
        if (signal.aborted) return;
        try {
          await foldChange(deps, { leaseId, foldId: await indexStore.nextFoldId() }, change);
        } catch (error) {
          await recover(error, [change]);
        }
        // At least one change is folded per turn.
        if (performance.now() > end) return;
      }
    }
  });
}

export async function takeLease({ index, indexStore }: LeaseDeps): Promise<number> {
  const leaseId = await indexStore.nextFoldId();
  await index.takeLease(leaseId);
  return leaseId;
}

type LeaseDeps = {
  readonly index: Pick<DeviceIndex, 'takeLease'>;
  readonly indexStore: Pick<IndexStore, 'nextFoldId'>;
};

type KnownDevicesDeps = {
  readonly index: Pick<DeviceIndex, 'foldKnownDevices'>;
  readonly indexStore: Pick<IndexStore, 'nextFoldId' | 'listFoldedBlocks' | 'recordKnownDevices'>;
};

export async function foldKnownDevices({ index, indexStore }: KnownDevicesDeps, leaseId: number): Promise<void> {
  const foldId = await indexStore.nextFoldId();
  const folded = await index.foldKnownDevices({ leaseId, foldId }, await indexStore.listFoldedBlocks());
  await indexStore.recordKnownDevices(foldId, folded);
}

async function foldChange(deps: FoldDeps, fold: Fold, change: IndexChange): Promise<void> {
  const { partnerId, audienceId } = change;
  const start = performance.now();
  await foldRows(deps, fold, change);
  deps.log.info(
    { partnerId, audienceId, seconds: Math.round(performance.now() - start) / 1000 },
    'device index updated',
  );
}

async function foldRows({ index, indexStore }: FoldDeps, fold: Fold, change: IndexChange): Promise<void> {
  if (change.audienceId === null) {
    if (change.partnerId !== 0) await index.foldAttributes(fold, change);
    await indexStore.recordAttributes(change, fold.foldId);
    return;
  }
  const audience = await indexStore.findAudience(change.audienceId);
  const devices = audience && (await index.foldAudience(fold, audience));
  await indexStore.recordAudience(change, audience && { ...audience, foldId: fold.foldId, devices: devices ?? 0 });
}

/** How often other work tries to get the lock while a worker folds. */
const lockPollMs = 100;

/** Calls `run` while no worker folds. Waits at most `maxMs` for a running fold. Returns whether `run` was called. */
export async function whileFoldsWait(
  { indexStore }: { readonly indexStore: Pick<IndexStore, 'runAlone'> },
  run: () => Promise<void>,
  { maxMs, signal }: { readonly maxMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const end = performance.now() + maxMs;
  while (!(await indexStore.runAlone(run))) {
    if (signal.aborted || performance.now() > end) return false;
    await pause(lockPollMs, signal);
  }
  return true;
}

/** Deletes the index and notes everything as changed. Workers then rebuild it in the background. */
export async function rebuildIndex(deps: FoldDeps): Promise<number> {
  const { index, indexStore } = deps;
  let changes = 0;
  const rebuild = async (): Promise<void> => {
    // After a restore, PostgreSQL would otherwise assign IDs that ClickHouse already contains.
    await indexStore.advanceFoldId(await index.highestFold());
    await takeLease(deps);
    // Noted first: if the rebuild is interrupted here, the next fold still replaces all bitmaps.
    changes = await indexStore.noteAll();
    await index.clear();
  };
  await whileFoldsWait(deps, rebuild, { maxMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal });
  return changes;
}

/** Returns one sentence per difference between the index and the rows. */
export async function verifyIndex({ index, indexStore }: Omit<FoldDeps, 'log'>): Promise<readonly string[]> {
  return index.verify(await indexStore.listFoldedAudiences());
}
