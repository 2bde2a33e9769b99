import { describe, expect, it } from 'vitest';
import { initialSuppressionList } from '../../domain/suppression.ts';
import { importMode, keyType, pathType } from '../../domain/import-log.ts';
import type { AudienceJob, CountsBefore, DeleteJob, ImportJob, StagedLoad } from '../../ports/lane-store.ts';
import {
  type CountPlan,
  type FileProgress,
  type LaneDecision,
  type LaneHead,
  type LaneSnapshot,
  decideNextStep,
  planCount,
  planDrop,
  planImportPublish,
} from './decide-next-step.ts';

const base = { id: 7, partnerId: 1, seq: 3 };
const source = { jobId: 7, partnerId: 1, pathType: pathType.sharedBucket, filePath: 'in/' };
const importJob: ImportJob = {
  ...base,
  kind: 'import',
  isOfSubscription: false,
  source,
  onlyFailedOf: null,
  prefix: 'acme/',
  keyType: keyType.attributeId,
  compressed: null,
  mode: importMode.merge,
};
const audienceJob: AudienceJob = {
  ...base,
  kind: 'audience',
  source,
  onlyFailedOf: null,
  prefix: 'acme/',
  audienceId: 5,
  literalPath: null,
  generation: 1,
};
const deleteJob: DeleteJob = { ...base, kind: 'delete', attributeIds: [11] };

const empty: LaneSnapshot = { isPaused: false, isSuspended: false, canceled: null, head: null };
const noFiles: FileProgress = { batchIds: [], stagedFiles: 0, stagedRows: 0, stagedSeconds: 0 };
const before: CountsBefore = { unique: 1_000_000, matched: 10, knownVersion: 4, isMatchedCurrent: true };
const dispatch = [21, 22];

const ofImport = (files: Partial<FileProgress>): LaneHead => ({
  isCanceled: false,
  isStarted: true,
  job: importJob,
  files: { ...noFiles, ...files },
});
const ofAudience = (files: Partial<FileProgress>, counts: Partial<CountsBefore> = {}): LaneHead => ({
  isCanceled: false,
  isStarted: true,
  job: audienceJob,
  files: { ...noFiles, ...files },
  before: { ...before, ...counts },
});
const staged = { batchIds: dispatch, stagedFiles: 1, stagedRows: 300_000, stagedSeconds: 1 };
const waiting = { isCanceled: false, isStarted: false } as const;
const publishAudience = { do: 'publish', job: audienceJob, before, dispatch } as const;

const rest = { do: 'rest', dispatch: [] } as const;

type Row = [behavior: string, snapshot: Partial<LaneSnapshot>, decision: LaneDecision];

const lane: Row[] = [
  ['rests when it has no open job', {}, { do: 'rest', dispatch: [] }],
  ['rests during a backup cut', { isPaused: true, head: ofImport(staged) }, { do: 'rest', dispatch: [] }],
  [
    'does not clean up during a backup cut',
    { isPaused: true, canceled: { jobId: 6, loadIds: [60] } },
    { do: 'rest', dispatch: [] },
  ],
  [
    'cleans up a canceled job before it runs the next one',
    { canceled: { jobId: 6, loadIds: [60] }, head: ofImport(staged) },
    { do: 'clean', jobId: 6, loadIds: [60] },
  ],
  ['prepares an import', { head: { ...waiting, job: importJob } }, { do: 'prepare', job: importJob }],
  ['prepares an audience load', { head: { ...waiting, job: audienceJob } }, { do: 'prepare', job: audienceJob }],
  ['prepares a delete', { head: { ...waiting, job: deleteJob } }, { do: 'prepare', job: deleteJob }],
  [
    'ends a job that was canceled before it started',
    { head: { ...waiting, isCanceled: true, job: importJob } },
    { do: 'end canceled' },
  ],
  ['starts no job of a suspended partner', { isSuspended: true, head: { ...waiting, job: importJob } }, rest],
  [
    'ends a canceled job of a suspended partner',
    { isSuspended: true, head: { ...waiting, isCanceled: true, job: importJob } },
    { do: 'end canceled' },
  ],
  [
    'finishes the running job of a suspended partner',
    { isSuspended: true, head: ofImport({}) },
    { do: 'finish', job: importJob },
  ],
  [
    'fails the open files of a canceled job that started',
    { head: { ...ofImport({ batchIds: dispatch }), isCanceled: true } },
    { do: 'end canceled' },
  ],
  [
    'finishes a canceled job that has no open files',
    { head: { ...ofImport({}), isCanceled: true } },
    { do: 'finish', job: importJob },
  ],
  [
    'finishes a delete once its rows are counted',
    { head: { isCanceled: false, isStarted: true, job: deleteJob } },
    { do: 'finish', job: deleteJob },
  ],
];

const imports: Row[] = [
  ['dispatches its batches and rests', { head: ofImport({ batchIds: dispatch }) }, { do: 'rest', dispatch }],
  [
    'publishes a staged file while others are loading',
    { head: ofImport({ ...staged, stagedRows: 1 }) },
    { do: 'publish', job: importJob, dispatch },
  ],
  [
    'publishes the last staged file before it finishes',
    { head: ofImport({ stagedFiles: 1, stagedRows: 1 }) },
    { do: 'publish', job: importJob, dispatch: [] },
  ],
  ['finishes when no file is open', { head: ofImport({}) }, { do: 'finish', job: importJob }],
];

const audiences: Row[] = [
  ['dispatches its batches and rests', { head: ofAudience({ batchIds: dispatch }) }, { do: 'rest', dispatch }],
  ['finishes when no file is open', { head: ofAudience({}) }, { do: 'finish', job: audienceJob }],
  ['makes staged files wait for files that are loading', { head: ofAudience(staged) }, { do: 'rest', dispatch }],
  [
    'publishes when no other file is loading',
    { head: ofAudience({ ...staged, batchIds: [] }) },
    { ...publishAudience, dispatch: [] },
  ],
  [
    'waits when the audience and the staged rows reach 250,000',
    { head: ofAudience({ ...staged, stagedRows: 1 }, { unique: 249_999 }) },
    { do: 'rest', dispatch },
  ],
  [
    'publishes at once while the audience is cheap to count',
    { head: ofAudience({ ...staged, stagedRows: 1 }, { unique: 249_998 }) },
    { ...publishAudience, before: { ...before, unique: 249_998 } },
  ],
  ['waits for 60 seconds', { head: ofAudience({ ...staged, stagedSeconds: 60 }) }, { do: 'rest', dispatch }],
  ['publishes after 60 seconds', { head: ofAudience({ ...staged, stagedSeconds: 60.1 }) }, publishAudience],
  [
    'publishes a group of 20 million rows',
    { head: ofAudience({ ...staged, stagedRows: 20_000_000 }) },
    publishAudience,
  ],
  [
    'waits with 20 million rows for a larger audience',
    { head: ofAudience({ ...staged, stagedRows: 20_000_000 }, { unique: 20_000_001 }) },
    { do: 'rest', dispatch },
  ],
];

describe('a lane', () => {
  it.each(lane)('%s', (_, snapshot, decision) => {
    expect(decideNextStep({ ...empty, ...snapshot })).toEqual(decision);
  });
});

describe('a started import', () => {
  it.each(imports)('%s', (_, snapshot, decision) => {
    expect(decideNextStep({ ...empty, ...snapshot })).toEqual(decision);
  });
});

describe('a started audience load', () => {
  it.each(audiences)('%s', (_, snapshot, decision) => {
    expect(decideNextStep({ ...empty, ...snapshot })).toEqual(decision);
  });
});

function stagedLoad(loadId: number, changes: Partial<StagedLoad> = {}): StagedLoad {
  return {
    load: {
      loadId,
      jobId: 7,
      partnerId: 1,
      bytes: 10,
      suppression: initialSuppressionList,
      target: { kind: 'audience', audienceId: 5, generation: 1 },
    },
    fileIds: [loadId * 10],
    rows: 100,
    isCounted: false,
    publishAttempt: 1,
    account: null,
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
const incremental = { method: 'incremental', recountMatched: false, maxDevices: 10_000_100 } as const;
const full = { method: 'full', onlyFileId: null } as const;
const fileIds = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const cases: [behavior: string, loads: StagedLoad[], counts: Partial<CountsBefore>, plan: CountPlan][] = [
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
    { ...incremental, maxDevices: 10_000_200, uncounted: [first] },
  ],
  [
    'counts 2 million rows incrementally',
    [stagedLoad(1, { rows: 2_000_000 })],
    {},
    { ...incremental, maxDevices: 12_000_000, uncounted: [stagedLoad(1, { rows: 2_000_000 })] },
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
    "uses the audience's count as the count of its only file",
    [first],
    { unique: 0 },
    { ...full, maxDevices: 100, onlyFileId: 10, uncounted: [] },
  ],
  [
    'counts the only file separately after a takeover',
    [takenOver],
    { unique: 0 },
    { ...full, maxDevices: 100, uncounted: [takenOver] },
  ],
  [
    'counts each file if the audience starts with two files',
    [first, stagedLoad(3)],
    { unique: 0 },
    { ...full, maxDevices: 200, uncounted: [first, stagedLoad(3)] },
  ],
  [
    'does not count the only file again',
    [stagedLoad(1, { isCounted: true })],
    { unique: 0 },
    { ...full, maxDevices: 100, uncounted: [] },
  ],
];

describe('counting an audience', () => {
  it.each(cases)('%s', (_, loads, counts, plan) => {
    expect(planCount(loads, { ...large, ...counts })).toEqual(plan);
  });
});
