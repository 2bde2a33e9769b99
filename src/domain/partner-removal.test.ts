import { describe, expect, it } from 'vitest';
import {
  type PlaceCount,
  type Removal,
  describeOpenWork,
  mergeCounts,
  removalProofOf,
  removalTargetOf,
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

const at = new Date('2026-11-15T00:00:00Z');
const removalOf = (partnerId: number, step: Removal['step']): Removal => ({
  partnerId,
  name: 'acme',
  prefix: 'acme/',
  hasStorageUser: false,
  step,
  requestedBy: 'root@host',
  requestedAt: at,
  removed: [rows('device_attributes', 10)],
  remaining: [rows('device_attributes', 0)],
  removedAt: at,
  finishedAt: null,
  proof: null,
});

describe('removalTargetOf', () => {
  const partner = { id: 12, name: 'acme', prefix: 'acme/' };
  const none = { partner: null, last: null, confirmed: null };
  const ended = removalOf(7, 'done');
  const open = removalOf(7, 'devices');

  it('accepts the name or the ID of a partner if no other partner has had the name', () => {
    for (const confirm of ['acme', '12'])
      expect(removalTargetOf('acme', confirm, { ...none, partner })).toEqual({ is: 'partner', partner });
    expect(() => removalTargetOf('acme', '13', { ...none, partner })).toThrow('No partner with the ID 13');
    expect(() => removalTargetOf('acme', 'acme', none)).toThrow('Partner "acme" does not exist.');
  });

  it('requires the ID if another partner with the same name was removed', () => {
    const known = { ...none, partner, last: ended };
    expect(() => removalTargetOf('acme', 'acme', known)).toThrow(
      'Pass --confirm 12 to remove the other partner, or --confirm 7 to write the proof again.',
    );
    expect(removalTargetOf('acme', '12', known)).toEqual({ is: 'partner', partner });
    expect(removalTargetOf('acme', '7', { ...known, confirmed: ended })).toEqual({ is: 'begun', removal: ended });
    const earlier = removalOf(3, 'done');
    expect(removalTargetOf('acme', '3', { ...known, confirmed: earlier })).toEqual({ is: 'begun', removal: earlier });
  });

  it('returns the last removal if no partner has the name now', () => {
    for (const confirm of ['acme', '7'])
      expect(
        removalTargetOf('acme', confirm, { ...none, last: ended, confirmed: confirm === '7' ? ended : null }),
      ).toEqual({ is: 'begun', removal: ended });
  });

  it('continues an unfinished removal before it begins another', () => {
    for (const confirm of ['acme', '7'])
      expect(removalTargetOf('acme', confirm, { ...none, partner, last: open })).toEqual({
        is: 'begun',
        removal: open,
      });
    expect(() => removalTargetOf('acme', '12', { ...none, partner, last: open })).toThrow(
      'Pass --confirm 7 to continue it first.',
    );
  });
});

describe('describeOpenWork', () => {
  const none = { jobs: 0, canceledJobs: 0, exports: 0, erasures: 0, repairs: 0, repairsEndAt: null };

  it('lists every kind of open work, and the time from which an interrupted repair is ignored', () => {
    expect(describeOpenWork(none)).toEqual([]);
    expect(describeOpenWork({ ...none, jobs: 2, erasures: 1 })).toEqual(['open jobs: 2', 'open erasures: 1']);
    expect(describeOpenWork({ ...none, repairs: 3, repairsEndAt: at })).toEqual([
      'loads of `inlet repair`: 3',
      'an interrupted repair is ignored from 2026-11-15T00:00:00.000Z',
    ]);
  });
});

describe('mergeCounts', () => {
  it('keeps the highest count for each place, because a repeated step finds fewer rows', () => {
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
    expect(removalProofOf(removalOf(7, 'clean'), at, at)).toMatchObject({
      format: 'inlet-removal-proof-1',
      partner: 'acme',
      storage_user: 'removed_by_operator',
      removed: [{ place: 'device_attributes', shard: 1, replica: 1, removed: 10 }],
      remaining: [{ place: 'device_attributes', shard: 1, replica: 1, remaining: 0 }],
    });
  });
});
