import { type LoadCounts, noRows } from '@inlet/row-rule/file-rule';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../domain/failure.ts';
import { defaultLimits } from '../../domain/limits.ts';
import { initialSuppressionList } from '../../domain/suppression.ts';
import type { BatchClaim, FileOutcome } from '../../ports/load-stage.ts';
import {
  type StageBatchDeps,
  type StageResult,
  decideAbandonedOutcomes,
  decideFileOutcomes,
  isReloadDue,
  stageBatch,
} from './load-batch.ts';

const good: LoadCounts = { accepted: 9, rejects: [] };
const mixed: LoadCounts = { accepted: 9, rejects: [{ reason: 'wrong_column_count', rows: 1, firstRow: 4 }] };
const bad: LoadCounts = { accepted: 0, rejects: [{ reason: 'wrong_column_count', rows: 3, firstRow: 1 }] };
const unreadable = new Failure('no_files', 'x');

/** Replaces the failure in an outcome with its code. */
function shown(outcome: FileOutcome): unknown {
  return outcome.is === 'failed' ? { ...outcome, failure: outcome.failure.code } : outcome;
}

const cases: [behavior: string, result: StageResult, counts: LoadCounts | null, share: number, outcome: unknown][] = [
  [
    'keeps a file without rejected rows',
    { is: 'staged', fileId: 1 },
    good,
    0,
    { is: 'staged', fileId: 1, counts: good },
  ],
  [
    'keeps a file whose rejected rows stay within the share',
    { is: 'staged', fileId: 1 },
    mixed,
    0.1,
    { is: 'staged', fileId: 1, counts: mixed },
  ],
  [
    'fails a file with more rejected rows, and keeps its counts',
    { is: 'staged', fileId: 1 },
    mixed,
    0.09,
    { is: 'failed', fileId: 1, counts: mixed, failure: 'bad_rows' },
  ],
  [
    'fails a file in which every row is rejected',
    { is: 'staged', fileId: 1 },
    bad,
    1,
    { is: 'failed', fileId: 1, counts: bad, failure: 'no_good_row' },
  ],
  [
    'fails a file without rows',
    { is: 'staged', fileId: 1 },
    null,
    1,
    { is: 'failed', fileId: 1, counts: noRows, failure: 'empty_file' },
  ],
  [
    'fails a file that could not be read',
    { is: 'failed', fileId: 1, failure: unreadable },
    null,
    1,
    { is: 'failed', fileId: 1, counts: noRows, failure: 'no_files' },
  ],
  ['reloads a large file alone', { is: 'alone', fileId: 1 }, null, 1, { is: 'alone', fileId: 1 }],
];

describe('a file in a batch', () => {
  it.each(cases)('%s', (_, result, counts, share, outcome) => {
    const counted = new Map(counts ? [[result.fileId, counts]] : []);
    expect(decideFileOutcomes([result], counted, { isAudience: false, badRowShare: share }).map(shown)).toEqual([
      outcome,
    ]);
  });

  it('does not fail because another file in the batch fails', () => {
    const counted = new Map([
      [1, bad],
      [2, good],
    ]);
    const outcomes = decideFileOutcomes(
      [
        { is: 'staged', fileId: 1 },
        { is: 'staged', fileId: 2 },
      ],
      counted,
      { isAudience: true, badRowShare: 0 },
    );
    expect(outcomes.map(({ is }) => is)).toEqual(['failed', 'staged']);
  });
});

const claim: BatchClaim = {
  batchId: 1,
  attempt: 1,
  source: { jobId: 1, partnerId: 7, pathType: 0, filePath: 'k' },
  load: {
    loadId: 3,
    jobId: 1,
    partnerId: 7,
    target: { kind: 'attributes', versions: { ofDeletes: 2, ofAdds: 3 }, isReplacing: false },
    suppression: initialSuppressionList,
    bytes: 1,
  },
  files: [{ fileId: 1, object: { key: 'k', etag: 'e', size: 1 }, expectGzip: null }],
  badRowShare: 0,
  unhyphenatedIds: false,
  previousLoadId: null,
};

const file = (fileId: number) => ({ fileId, object: { key: 'k', etag: 'e', size: 1 }, expectGzip: null });

describe('a file whose storage does not respond', () => {
  it('is no longer opened when its job is canceled', { timeout: 10_000 }, async () => {
    const unused = () => Promise.reject(new Error('unused'));
    const objects = {
      find: unused,
      list: unused,
      read: unused,
      open: (_object: unknown, signal: AbortSignal) =>
        new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
    };
    const stage: StageBatchDeps['stage'] = {
      stage: unused,
      stageTogether: unused,
      readSoFar: unused,
      countRows: unused,
      countStaged: unused,
      dropLoad: unused,
      dropStages: unused,
      listRejects: unused,
      listStaged: unused,
      hasReplicas: false,
    };
    const deps: StageBatchDeps = {
      files: { recordProgress: async () => false },
      sources: { withObjects: (_source, run) => run(objects) },
      stage,
      limits: defaultLimits,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    };
    await expect(stageBatch(deps, claim, new AbortController().signal)).rejects.toThrow('aborted');
  });
});

describe('a batch that is out of attempts', () => {
  it('fails if it contains only one file', () => {
    const outcomes = decideAbandonedOutcomes({ files: [file(1)], attempt: 8 });
    expect(outcomes.map(shown)).toEqual([{ is: 'failed', fileId: 1, counts: noRows, failure: 'load_abandoned' }]);
    expect(outcomes[0]).toMatchObject({ failure: { detail: 'The file could not be loaded after 7 attempts.' } });
  });

  it('is split if it contains several files', () => {
    const outcomes = decideAbandonedOutcomes({ files: [file(1), file(2)], attempt: 8 });
    expect(outcomes).toEqual([
      { is: 'alone', fileId: 1 },
      { is: 'alone', fileId: 2 },
    ]);
  });
});

describe('a committed batch', () => {
  it.each<[behavior: string, outcomes: FileOutcome[], isDue: boolean]>([
    ['is reloaded when the file whose ID it has must be loaded alone', [{ is: 'alone', fileId: 1 }], true],
    ['is not reloaded for another file, which gets its own token', [{ is: 'alone', fileId: 2 }], false],
    ['is not reloaded when every file has an outcome', [{ is: 'staged', fileId: 1, counts: good }], false],
  ])('%s', (_, outcomes, isDue) => {
    expect(isReloadDue({ batchId: 1 }, outcomes)).toBe(isDue);
  });
});
