import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { statusOf } from './drop-policy.ts';
import {
  InvalidArchive,
  acceptsArchive,
  amendmentName,
  answerName,
  archiveNameOf,
  dayOfArchive,
  deadlineOf,
  dropSteps,
  isAcceptedEarlier,
  listsOfArchive,
  readAmendment,
  secondsUntilOpen,
  textOfAmendment,
} from './drop.ts';

describe('the archive of a cycle', () => {
  it('keeps a name that consists of a day and a broker, and otherwise gets a name from its digest', () => {
    const sha256 = '0123456789abcdef'.repeat(4);
    expect(archiveNameOf('20260312_4821_DROP.zip', sha256)).toBe('20260312_4821_DROP.zip');
    for (const name of [
      null,
      '',
      'DROP.zip',
      '../20260312_4821_DROP.zip',
      '20260312_4821_DROP.zip/x',
      '20260312_48_DROP.zip',
    ])
      expect(archiveNameOf(name, sha256)).toBe('0123456789abcdef.zip');
  });

  it('was created on the day in its name', () => {
    const now = new Date('2026-03-20T08:00:00Z');
    expect(dayOfArchive('20260312_4821_DROP.zip', now)).toEqual(new Date('2026-03-12'));
    expect(dayOfArchive('20260312_4821_DROP (1).zip', now)).toEqual(new Date('2026-03-12'));
    for (const name of ['archive.zip', '20269912_4821_DROP.zip', '20260321_4821_DROP.zip'])
      expect(dayOfArchive(name, now)).toBeNull();
  });

  it('can be provided until the cycle has read it', () => {
    expect(dropSteps.filter(acceptsArchive)).toEqual(['download', 'read', 'done']);
  });

  it('contains each list once, all for the same day and broker', () => {
    expect(listsOfArchive(['20260312_4821_MAID.csv', '20260312_4821_Removed.csv'])).toEqual([
      { name: '20260312_4821_MAID.csv', list: 'MAID' },
      { name: '20260312_4821_Removed.csv', list: 'Removed' },
    ]);
    for (const names of [
      [],
      ['notes.txt'],
      ['folder/20260312_4821_MAID.csv'],
      ['20260312_4821_MAID.csv', '20260313_4821_Email.csv'],
      ['20260312_4821_MAID.csv', '20260312_4821_MAID.csv'],
    ])
      expect(() => listsOfArchive(names)).toThrow(InvalidArchive);
  });
});

describe('the opening hours of DROP', () => {
  it.each([
    ['2026-08-20T07:59:59Z', 0, 'a second before 1:00 in summer'],
    ['2026-08-20T08:00:00Z', 7200, '1:00 in summer'],
    ['2026-08-20T09:59:59Z', 1, 'a second before 3:00'],
    ['2026-08-20T10:00:00Z', 0, '3:00'],
    ['2026-12-20T08:59:00Z', 0, 'before 1:00 in winter'],
    ['2026-12-20T09:30:00Z', 5400, '1:30 in winter'],
    ['2026-03-08T09:00:00Z', 3600, '1:00 on the day on which 2:00 is skipped'],
    ['2026-11-01T08:00:00Z', 10_800, '1:00 on the day on which 1:00 is repeated'],
  ])('at %s, opens in %i s: %s', (time, seconds) => {
    expect(secondsUntilOpen(new Date(time))).toBe(seconds);
  });

  it('is open when the wait has ended', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2026-01-01'), max: new Date('2028-01-01'), noInvalidDate: true }),
        (time) => {
          const seconds = secondsUntilOpen(time);
          expect(seconds).toBeLessThanOrEqual(10_800);
          expect(secondsUntilOpen(new Date(time.getTime() + seconds * 1000))).toBe(0);
        },
      ),
    );
  });

  it('sets the deadline to 45 days later', () => {
    expect(deadlineOf(new Date('2026-08-01T00:00:00Z')).toISOString()).toBe('2026-09-15T00:00:00.000Z');
  });
});

describe('the status of an item', () => {
  const facts = { isFound: true, isExempt: false, isShared: false };

  it.each([
    [5, { isFound: false, isExempt: true, isShared: true }],
    [2, { ...facts, isExempt: true, isShared: true }],
    [4, { ...facts, isShared: true }],
    [3, facts],
  ])('is %i for %o', (status, given) => {
    expect(statusOf(given, { shared: 'opted_out' })).toBe(status);
  });

  it('is "deleted" for a shared device if the policy says so', () => {
    expect(statusOf({ ...facts, isShared: true }, { shared: 'deleted' })).toBe(3);
  });
});

describe('files for DROP', () => {
  it('have the name of the list, and a suffix if there are several', () => {
    const [one, third] = [
      { part: 1, parts: 1 },
      { part: 3, parts: 10 },
    ];
    expect(answerName('20260312_4821_MAID.csv', { ...one, attempt: 1 })).toBe('20260312_4821_MAID.csv');
    expect(answerName('20260312_4821_MAID.csv', { ...one, attempt: 2 })).toBe('20260312_4821_MAID_r2.csv');
    expect(answerName('20260312_4821_MAID.csv', { ...third, attempt: 1 })).toBe('20260312_4821_MAID_part03.csv');
    expect(answerName('20260312_4821_MAID.csv', { ...third, attempt: 12 })).toBe('20260312_4821_MAID_part03r12.csv');
    expect(amendmentName('20260312_4821_MAID.csv', 12)).toBe('20260312_4821_MAID_amend12.csv');
    expect(() => amendmentName('20260312_4821_MAID.csv', 100_000)).toThrow('not a suffix');
  });

  it('can be read as an amendment', () => {
    const amended = readAmendment('Id,Status\r\nB7kP2xQ9Lm4R,5\r\nA7kP2xQ9Lm4R,2\r\n');
    expect(textOfAmendment(amended)).toBe('Id,Status\nA7kP2xQ9Lm4R,2\nB7kP2xQ9Lm4R,5\n');
    // IDs are case-sensitive.
    expect(readAmendment('Id,Status\na7kP2xQ9Lm4R,5\nA7kP2xQ9Lm4R,2\n').size).toBe(2);
  });

  it.each([
    ['id,status\nA7kP2xQ9Lm4R,2\n', 'first line'],
    ['Id,Status\n', 'no item'],
    ['Id,Status\nA7kP2xQ9Lm4R,1\n', 'Line 2'],
    ['Id,Status\nA7kP2xQ9Lm4R,2,3\n', 'Line 2'],
    ['Id,Status\nA7kP2xQ9Lm4R\n', 'Line 2'],
    ['Id,Status\nA7kP2xQ9Lm4R,2\nshort,2\n', 'Line 3'],
    ['Id,Status\nA7kP2xQ9Lm4R,2\nA7kP2xQ9Lm4R,5\n', 'Line 3 repeats'],
  ])('are rejected as an amendment: %j', (text, problem) => {
    expect(() => readAmendment(text)).toThrow(problem);
  });

  it('count as accepted if their name was uploaded before', () => {
    const message =
      'A file with this name was already uploaded for the current download. Use a unique suffix and try again';
    expect(isAcceptedEarlier(message)).toBe(true);
    expect(isAcceptedEarlier('Invalid CSV header. Expected: Id,Status.')).toBe(false);
  });
});
