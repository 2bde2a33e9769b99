import { describe, expect, it } from 'vitest';
import { keyType, pathType } from '../../domain/import-log.ts';
import { versionsOfJob } from '../../domain/job.ts';
import type { FileToRepair, LaterChanges } from '../../ports/repair.ts';
import { decideLostCounts, obstacleOf } from './repair-rows.ts';

const file: FileToRepair = {
  fileId: 7,
  loadId: 5,
  jobId: 3,
  partnerId: 1,
  seq: 2,
  keyType: keyType.foreignKey,
  target: { kind: 'attributes', versions: versionsOfJob(2), isReplacing: false },
  source: { jobId: 3, partnerId: 1, pathType: pathType.sharedBucket, filePath: 'a.csv' },
  object: { key: 'acme/a.csv', etag: '"1"', size: 10 },
  path: 'a.csv',
  expectGzip: null,
  totalRows: 10,
  acceptedRows: 10,
};
const nothing: LaterChanges = { deletedAttributeIds: [], hasReplace: false, hasMovedKeys: false };
const replacing = { ...file, target: { kind: 'attributes', versions: versionsOfJob(2), isReplacing: true } } as const;
const ofAudience = { ...file, keyType: null, target: { kind: 'audience', audienceId: 1, generation: 1 } } as const;
const inOwnBucket = { ...file, source: { ...file.source, pathType: pathType.partnerBucket } };

describe('repairing a file', () => {
  it.each<[string, FileToRepair, Partial<LaterChanges>]>([
    ['nothing has changed since', file, {}],
    ['its attributes were deleted since, because they are left out', file, { deletedAttributeIds: [9] }],
    [
      'keys have changed, but the file contains attribute IDs',
      { ...file, keyType: keyType.attributeId },
      { hasMovedKeys: true },
    ],
    ['it belongs to an audience', ofAudience, { hasReplace: true, hasMovedKeys: true }],
    ['it replaced rows', replacing, {}],
  ])('is possible if %s', (_what, one, changes) => {
    expect(obstacleOf(one, { ...nothing, ...changes })).toBeNull();
  });

  it.each<[string, FileToRepair, Partial<LaterChanges>, RegExp]>([
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
