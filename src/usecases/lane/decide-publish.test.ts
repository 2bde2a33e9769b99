import { describe, expect, it } from 'vitest';
import { importMode, keyType, pathType } from '../../domain/import-log.ts';
import type { CountsBefore, ImportJob, StagedLoad } from '../../ports/lane-store.ts';
import { type CountPlan, planCount, planDrop, planImportPublish } from './decide-publish.ts';

const importJob: ImportJob = {
  id: 7,
  partnerId: 1,
  seq: 3,
  kind: 'import',
  source: { jobId: 7, partnerId: 1, pathType: pathType.sharedBucket, filePath: 'in/' },
  prefix: 'acme/',
  keyType: keyType.attributeId,
  compressed: null,
  mode: importMode.merge,
};

function stagedLoad(loadId: number, changes: Partial<StagedLoad> = {}): StagedLoad {
  return {
    load: { loadId, jobId: 7, partnerId: 1, bytes: 10, target: { kind: 'audience', audienceId: 5, generation: 1 } },
    fileIds: [loadId * 10],
    rows: 100,
    isCounted: false,
    publishAttempt: 1,
    ...changes,
  };
}

const first = stagedLoad(1);
const takenOver = stagedLoad(2, { publishAttempt: 2 });

describe('publishing the loads of an import', () => {
  it('publishes and drops each load of a merging job', () => {
    const plan = { publish: [first, takenOver], drop: [1], stopAndDrop: [2] };
    expect(planImportPublish(importJob, [first, takenOver])).toEqual(plan);
  });

  it('keeps the loads of a replacing job until the job finishes', () => {
    const plan = { publish: [], drop: [], stopAndDrop: [] };
    expect(planImportPublish({ ...importJob, mode: importMode.replace }, [first, takenOver])).toEqual(plan);
  });

  it('stops the statements of a load that an earlier holder of the lane claimed', () => {
    expect(planDrop([first, takenOver])).toEqual({ drop: [1], stopAndDrop: [2] });
  });
});

const large: CountsBefore = { unique: 10_000_000, matched: 1, knownVersion: 2, isMatchedCurrent: true };
const incremental = { method: 'incremental', recountMatched: false } as const;
const full = { method: 'full', onlyFileId: null } as const;
const fileIds = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const cases: [behavior: string, loads: StagedLoad[], before: Partial<CountsBefore>, plan: CountPlan][] = [
  ['counts a small load incrementally', [first], {}, { ...incremental, uncounted: [first] }],
  [
    'recounts the matched devices when the warehouse has changed',
    [first],
    { isMatchedCurrent: false },
    { ...incremental, recountMatched: true, uncounted: [first] },
  ],
  [
    'does not count a file twice',
    [stagedLoad(3, { isCounted: true }), first],
    {},
    { ...incremental, uncounted: [first] },
  ],
  [
    'counts 2 million rows incrementally',
    [stagedLoad(1, { rows: 2_000_000 })],
    {},
    { ...incremental, uncounted: [stagedLoad(1, { rows: 2_000_000 })] },
  ],
  [
    'counts in full above 2 million rows',
    [stagedLoad(1, { rows: 2_000_001 })],
    {},
    { ...full, maxDevices: 12_000_001, uncounted: [stagedLoad(1, { rows: 2_000_001 })] },
  ],
  [
    'counts in full when the load has more than a quarter of the rows',
    [first],
    { unique: 399 },
    { ...full, maxDevices: 499, uncounted: [first] },
  ],
  [
    'counts in full above 500 files',
    [stagedLoad(1, { fileIds: fileIds(501) })],
    {},
    { ...full, maxDevices: 10_000_100, uncounted: [stagedLoad(1, { fileIds: fileIds(501) })] },
  ],
  [
    'counts in full after a takeover',
    [first, takenOver],
    {},
    { ...full, maxDevices: 10_000_200, uncounted: [first, takenOver] },
  ],
  [
    "takes the audience's count for its only file",
    [first],
    { unique: 0 },
    { ...full, maxDevices: 100, onlyFileId: 10, uncounted: [] },
  ],
  [
    'counts an only file itself after a takeover',
    [takenOver],
    { unique: 0 },
    { ...full, maxDevices: 100, uncounted: [takenOver] },
  ],
  [
    'counts each of two first files',
    [first, stagedLoad(3)],
    { unique: 0 },
    { ...full, maxDevices: 200, uncounted: [first, stagedLoad(3)] },
  ],
  [
    'does not count an only file again',
    [stagedLoad(1, { isCounted: true })],
    { unique: 0 },
    { ...full, maxDevices: 100, uncounted: [] },
  ],
];

describe('counting an audience', () => {
  it.each(cases)('%s', (_, loads, before, plan) => {
    expect(planCount(loads, { ...large, ...before })).toEqual(plan);
  });
});
