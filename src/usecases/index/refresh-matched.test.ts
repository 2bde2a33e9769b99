import { describe, expect, it } from 'vitest';
import type { FoldedAudience, MatchedCount } from '../../ports/device-index.ts';
import { refreshMatched } from './refresh-matched.ts';

const audience: FoldedAudience = { partnerId: 1, audienceId: 2, generation: 0, loadId: 3, foldId: 4, devices: 5 };
const ignore = (): void => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A store whose lock is held by another process during the first few attempts. */
function depsWith(takenFor: number) {
  let attempts = 0;
  let stale = [audience];
  const recorded: number[] = [];
  const indexStore = {
    runAlone: async (run: () => Promise<void>): Promise<boolean> => {
      attempts += 1;
      if (attempts <= takenFor) return false;
      await run();
      return true;
    },
    nextFoldId: () => Promise.resolve(10),
    knownVersion: () => Promise.resolve(7),
    listStaleMatched: () => Promise.resolve(stale),
    listFoldedBlocks: () => Promise.resolve([]),
    recordKnownDevices: () => Promise.resolve(),
    recordMatched: async (_version: number, counts: readonly MatchedCount[]): Promise<void> => {
      recorded.push(...counts.map(({ matched }) => matched));
      stale = [];
    },
  };
  const index = {
    takeLease: () => Promise.resolve(),
    foldKnownDevices: () => Promise.resolve([]),
    countMatched: (audiences: readonly FoldedAudience[]) =>
      Promise.resolve(audiences.map((one) => ({ ...one, matched: 3 }))),
  };
  const lanes = { claimTurn: () => Promise.resolve(true) };
  const deps = { index, indexStore, lanes, log: silent };
  return { deps, recorded, attempts: () => attempts };
}

describe('refreshMatched', () => {
  it('counts the matched devices of stale audiences', async () => {
    const { deps, recorded } = depsWith(0);
    await refreshMatched(deps, new AbortController().signal);
    expect(recorded).toEqual([3]);
  });

  it('waits for a fold that holds the lock instead of skipping its turn', async () => {
    const { deps, recorded, attempts } = depsWith(2);
    await refreshMatched(deps, new AbortController().signal);
    expect([recorded, attempts()]).toEqual([[3], 3]);
  });

  it('stops waiting when the worker stops', async () => {
    const { deps, recorded } = depsWith(1_000);
    const stopping = new AbortController();
    setTimeout(() => stopping.abort(), 50);
    await refreshMatched(deps, stopping.signal);
    expect(recorded).toEqual([]);
  });
});
