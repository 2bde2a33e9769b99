import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../domain/limits.ts';
import { keyType, pathType } from '../../domain/import-log.ts';
import { versionsOfJob } from '../../domain/job.ts';
import { initialSuppressionList } from '../../domain/suppression.ts';
import type { LoadStage, StagedCounts } from '../../ports/load-stage.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import type { FileToRepair, LaterChanges } from '../../ports/repair.ts';
import { decideLostCounts, obstacleOf, stageFile } from './repair-rows.ts';

const file: FileToRepair = {
  fileId: 7,
  loadId: 5,
  jobId: 3,
  partnerId: 1,
  seq: 2,
  keyType: keyType.foreignKey,
  target: { kind: 'attributes', versions: versionsOfJob(2), isReplacing: false },
  suppression: initialSuppressionList,
  source: { jobId: 3, partnerId: 1, pathType: pathType.sharedBucket, filePath: 'a.csv' },
  object: { key: 'acme/a.csv', etag: '"1"', size: 10 },
  path: 'a.csv',
  expectGzip: null,
  totalRows: 10,
  acceptedRows: 10,
};
const nothing: LaterChanges = { deletedAttributeIds: [], hasReplace: false, hasMovedKeys: false, isUnseen: false };
const replacing = { ...file, target: { kind: 'attributes', versions: versionsOfJob(2), isReplacing: true } } as const;
const ofAudience = { ...file, keyType: null, target: { kind: 'audience', audienceId: 1, generation: 1 } } as const;
const inOwnBucket = { ...file, source: { ...file.source, pathType: pathType.partnerBucket } };

/** Stages a file of 10 rows, one of which has an ID without hyphens. Returns the load that was staged, or the problem. */
async function stagedLoad(acceptedRows: number): Promise<{ load: number | string; loadIds: number[] }> {
  const counts = new Map<number, StagedCounts>();
  const unused = () => Promise.reject(new Error('unused'));
  const stage: LoadStage = {
    stage: async ({ loadId }, { layout }) => {
      const accepted = layout.unhyphenatedIds ? 10 : 9;
      const rejects = accepted === 10 ? [] : [{ reason: 'hashed_id' as const, rows: 1, firstRow: 3 }];
      counts.set(loadId, { accepted, stagedRows: accepted, rejects });
    },
    countRows: async ({ loadId }) => new Map([...counts].flatMap(([id, found]) => (id === loadId ? [[7, found]] : []))),
    countStaged: async ({ loadId }) => [counts.get(loadId)?.accepted ?? 0],
    stageTogether: unused,
    readSoFar: unused,
    listRejects: unused,
    dropStages: unused,
    dropLoad: unused,
    hasReplicas: false,
    listStaged: unused,
  };
  const head = Buffer.from('a,b\n');
  const objects: ObjectStore = {
    find: unused,
    list: unused,
    read: unused,
    open: async () => ({ isGzip: false, head, body: Readable.from([head]), bytesRead: () => 0 }),
  };
  let lastId = 20;
  const deps = {
    stage,
    sources: { withObjects: (_source: unknown, run: (store: ObjectStore) => Promise<never>) => run(objects) },
    limits: defaultLimits,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    repairRecords: { startLoad: async () => (lastId += 1) },
    repairEngine: { shards: 1 },
  };
  const loadIds: number[] = [];
  const found = await stageFile(deps, { ...file, acceptedRows }, loadIds, new AbortController().signal);
  return { load: 'load' in found ? found.load.loadId : found.problem, loadIds };
}

describe('repairing a file', () => {
  it('rejects IDs without hyphens if that leads to the recorded counts', async () => {
    expect(await stagedLoad(9)).toEqual({ load: 21, loadIds: [21] });
  });

  it('accepts IDs without hyphens if only that leads to the recorded counts', async () => {
    expect(await stagedLoad(10)).toEqual({ load: 22, loadIds: [21, 22] });
  });

  it('is refused if the counts differ either way', async () => {
    const load = '8 of 10 rows were accepted, but now 9 of 10 are.';
    expect(await stagedLoad(8)).toEqual({ load, loadIds: [21, 22] });
  });

  it.each<[string, FileToRepair, Partial<LaterChanges>]>([
    ['nothing has changed since', file, {}],
    ['its attributes were deleted since, because they are left out', file, { deletedAttributeIds: [9] }],
    [
      'keys have changed, but the file contains attribute IDs',
      { ...file, keyType: keyType.attributeId },
      { hasMovedKeys: true },
    ],
    ['it belongs to an audience', ofAudience, { hasReplace: true, hasMovedKeys: true, isUnseen: true }],
    ['it replaced rows', replacing, {}],
  ])('is possible if %s', (_what, one, changes) => {
    expect(obstacleOf(one, { ...nothing, ...changes })).toBeNull();
  });

  it.each<[string, FileToRepair, Partial<LaterChanges>, RegExp]>([
    ['its rows were removed because they were not seen', file, { isUnseen: true }, /not been seen/],
    ['a later import has replaced its rows', file, { hasReplace: true }, /mode "replace"/],
    ['its foreign keys may refer to other attributes', file, { hasMovedKeys: true }, /foreign keys/],
    ['it replaced rows that were deleted since', replacing, { deletedAttributeIds: [9] }, /have been deleted/],
    ['it is in a partner-owned bucket', inOwnBucket, {}, /partner-owned bucket/],
  ])('is refused if %s', (_what, one, changes, reason) => {
    expect(obstacleOf(one, { ...nothing, ...changes })).toMatch(reason);
  });

  it.each<[string, number[], number[], number | undefined]>([
    ['no load is recorded', [], [], undefined],
    ['all counts exist', [9, 8, 7], [], undefined],
    ['a shard was restored after load 6', [9, 8, 7, 6, 5], [8], 7],
    ['both shards were restored after load 6', [9, 8, 7, 6, 5], [7, 8, 9], 6],
    ['a shard was emptied', [9, 8, 7, 6, 5], [6, 8], 1],
  ])('finds the first load whose rows may be missing if %s', (_what, loadIds, uncounted, from) => {
    expect(decideLostCounts(loadIds, new Set(uncounted), 2)?.suspectFrom).toBe(from);
  });
});
