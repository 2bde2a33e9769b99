import { describe, expect, it } from 'vitest';
import { afterPart, isUploadFolder, missingParts, newFolder, partAttempts, partDelay, pathToLoad } from './plan.ts';

describe('missingParts', () => {
  it('splits a file into parts, the last of which can be shorter', () => {
    expect(missingParts(20, 8, [])).toEqual([
      { number: 1, start: 0, end: 8 },
      { number: 2, start: 8, end: 16 },
      { number: 3, start: 16, end: 20 },
    ]);
  });

  it('omits stored parts, and sends a part with a different size again', () => {
    const stored = [
      { part_number: 1, bytes: 8 },
      { part_number: 3, bytes: 3 },
    ];
    expect(missingParts(20, 8, stored).map(({ number }) => number)).toEqual([2, 3]);
  });

  it('sends a small file as one part', () => expect(missingParts(3, 8, [])).toEqual([{ number: 1, start: 0, end: 3 }]));
});

describe('partDelay', () => {
  it('doubles up to 20 seconds and ends after the last attempt', () => {
    expect([1, 2, 3, 7].map((attempt) => partDelay(attempt, () => 1))).toEqual([500, 1_000, 2_000, 20_000]);
    expect(partDelay(partAttempts)).toBe(null);
  });
});

describe('afterPart', () => {
  it.each([
    [200, 'done'],
    [0, 'retry'],
    [503, 'retry'],
    [429, 'retry'],
    [403, 'sign again'],
    [400, 'give up'],
    [404, 'give up'],
  ] as const)('status %i: %s', (status, next) => expect(afterPart(status)).toBe(next));
});

describe('newFolder', () => {
  it('creates a folder that no other upload uses', () => {
    const folder = newFolder(new Date('2026-11-18T09:05:07.123Z'), '0123456789ab');
    expect(folder).toBe('uploads/2026-11-18-090507-0123456789ab/');
    expect(isUploadFolder(folder)).toBe(true);
  });

  it.each(['', 'uploads/', 'uploads/2026-11-18-090507/', 'daily/', 'uploads/2026-11-18-090507-0123456789ab/x/'])(
    'does not recognize %j as its folder',
    (folder) => expect(isUploadFolder(folder)).toBe(false),
  );
});

describe('pathToLoad', () => {
  it('is the file if there is only one, and otherwise the folder', () => {
    expect(pathToLoad(['a/b/1.csv'])).toBe('a/b/1.csv');
    expect(pathToLoad(['a/b/1.csv', 'a/b/2.csv'])).toBe('a/b/');
  });
});
