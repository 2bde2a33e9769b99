import { describe, expect, it } from 'vitest';
import {
  type PlaceCount,
  type Removal,
  mergeCounts,
  removalProofOf,
  stepAfterVerify,
  toRemovalStep,
} from './partner-removal.ts';

const rows = (place: string, count: number, replica = 1): PlaceCount => ({
  store: 'clickhouse',
  place,
  shard: 1,
  replica,
  count,
});

describe('mergeCounts', () => {
  it('keeps the highest count of each place, because a repeated step finds less', () => {
    const before = [rows('device_attributes', 10), rows('load_rejects', 2)];
    const again = [rows('device_attributes', 4), rows('load_rejects', 3), rows('device_attributes', 9, 2)];
    expect(mergeCounts(before, again)).toEqual([
      rows('device_attributes', 10),
      rows('load_rejects', 3),
      rows('device_attributes', 9, 2),
    ]);
  });
});

describe('stepAfterVerify', () => {
  it('starts over while anything remains', () => {
    expect(stepAfterVerify([rows('device_attributes', 0), rows('load_rejects', 1)])).toBe('storage');
    expect(stepAfterVerify([rows('device_attributes', 0)])).toBe('clean');
  });
});

describe('toRemovalStep', () => {
  it('rejects a step that this release does not know', () => {
    expect(toRemovalStep('rows')).toBe('rows');
    expect(() => toRemovalStep('later')).toThrow('"later" is not a step of a removal');
  });
});

describe('removalProofOf', () => {
  it('contains what was removed and what remained', () => {
    const at = new Date('2026-11-15T00:00:00Z');
    const removal: Removal = {
      partnerId: 7,
      name: 'acme',
      prefix: 'acme/',
      hasStorageUser: false,
      step: 'clean',
      requestedBy: 'root@host',
      requestedAt: at,
      removed: [rows('device_attributes', 10)],
      remaining: [rows('device_attributes', 0)],
      removedAt: at,
      finishedAt: null,
      proof: null,
    };
    expect(removalProofOf(removal, at, at)).toMatchObject({
      format: 'inlet-removal-proof-1',
      partner: 'acme',
      storage_user: 'removed_by_operator',
      removed: [{ place: 'device_attributes', shard: 1, replica: 1, removed: 10 }],
      remaining: [{ place: 'device_attributes', shard: 1, replica: 1, remaining: 0 }],
    });
  });
});
