import { describe, expect, it } from 'vitest';
import type { CompositionCounts } from '../../domain/composition/counts.ts';
import type { ClaimedRequest } from '../../ports/report-store.ts';
import { type ComputeReportsDeps, computeReports } from './compute-reports.ts';

const request: ClaimedRequest = {
  audience: { partnerId: 1, customerId: null, audienceId: 2, generation: 0, lastLoadId: 5 },
  counting: 'none',
  settings: 'settings',
  requestedState: '0 5',
};
const counts: CompositionCounts = { members: '', matchedDevices: 0, knownDevices: 0, countries: {}, cells: [] };
const ignore = (): void => undefined;
const dayMs = 86_400_000;

type Stored = { lastLoadId: number; ageDays: number; isPublished: boolean };

/** Computes one requested report and returns what was written, in order. */
async function compute(stored: Stored | null): Promise<string[]> {
  const written: string[] = [];
  const waiting = [request];
  let isPublished = stored?.isPublished ?? false;
  const unexpected = (): never => {
    throw new Error('unexpected call');
  };
  const deps: ComputeReportsDeps = {
    reports: {
      claimRequest: async () => waiting.pop() ?? null,
      postpone: async () => void written.push('postponed'),
      end: async () => void written.push('ended'),
      findCounted: async () =>
        stored && { lastLoadId: stored.lastLoadId, computedAt: new Date(Date.now() - stored.ageDays * dayMs) },
      readCounts: async () => counts,
      isPublished: async () => isPublished,
      saveCounts: async () => {
        written.push('counts');
        isPublished = false;
        return 'saved';
      },
      savePublished: async () => {
        written.push('published');
        isPublished = true;
      },
      runAlone: (_wanted, run) => run(),
      isCurrent: async () => true,
      findIndexState: async () => ({ foldId: 1, devices: 0, folds: new Map() }),
      removeExpired: unexpected,
    },
    indexStore: { runAlone: unexpected },
    profiler: { profile: async () => counts },
    budget: { findSpent: async () => ({ ofCustomer: [], ofPartnerToday: 0 }) },
    reportLimits: { perCustomer: 0, perPartnerAndDay: 0 },
    protection: { hideUnder: 0, flagUnder: 0, noise: 0, roundTo: 0 },
    noise: () => 0,
    reportSettings: 'settings',
    log: { info: ignore, warn: ignore, error: ignore },
  };
  await computeReports(deps, new AbortController().signal);
  return written;
}

describe('computing a report', () => {
  it('counts and publishes a report that is not stored', async () => {
    expect(await compute(null)).toEqual(['counts', 'published', 'ended']);
  });

  it('publishes stored counts without counting again', async () => {
    expect(await compute({ lastLoadId: 5, ageDays: 0, isPublished: false })).toEqual(['published', 'ended']);
  });

  it('does not publish a report again if it was published before its worker died', async () => {
    expect(await compute({ lastLoadId: 5, ageDays: 0, isPublished: true })).toEqual(['ended']);
  });

  it('counts again after a week', async () => {
    expect(await compute({ lastLoadId: 5, ageDays: 8, isPublished: true })).toEqual(['counts', 'published', 'ended']);
  });

  it('publishes old counts before it counts again', async () => {
    expect(await compute({ lastLoadId: 5, ageDays: 8, isPublished: false })).toEqual(['published', 'ended']);
  });

  it('counts again after another load', async () => {
    expect(await compute({ lastLoadId: 4, ageDays: 0, isPublished: true })).toEqual(['counts', 'published', 'ended']);
  });
});
