import { describe, expect, it } from 'vitest';
import {
  actionsOn,
  funnelOf,
  isMatchRounded,
  isRetriedByPartner,
  sentenceOf,
  versionOfReasons,
} from './describe-audience.ts';

describe('funnelOf', () => {
  it('compares each step with the uploaded devices', () => {
    const steps = funnelOf({ uploaded_devices: 200, unique_devices: 100, matched_devices: 50 });
    expect(steps.map(({ share }) => share)).toEqual([1, 0.5, 0.25]);
  });

  it('is empty for an empty audience', () => {
    const steps = funnelOf({ uploaded_devices: 0, unique_devices: 0, matched_devices: 0 });
    expect(steps.map(({ share }) => share)).toEqual([0, 0, 0]);
  });
});

describe('isMatchRounded', () => {
  it.each([
    [0, false],
    [1, true],
    [999, true],
    [1_000, false],
  ])('for %i devices: %s', (unique_devices, expected) => expect(isMatchRounded({ unique_devices })).toBe(expected));
});

describe('actionsOn', () => {
  const append = {
    status: 3,
    cleared: false,
    files: { all: 3, loaded: 2, failed: 1 },
    cancel_requested_at: null,
    file_path: 'customers/7/summer.csv',
  } as const;
  it.each([
    ['a running append', { status: 1 }, ['cancel']],
    ['an append that was canceled', { status: 0, cancel_requested_at: '2026-11-15T01:12:18.268Z' }, []],
    ['a loaded append', { status: 2 }, []],
    ['an append with some failed files', {}, ['failed', 'all']],
    ['an append whose files all failed', { files: { all: 1, loaded: 0, failed: 1 } }, ['all']],
    ['an append without files', { files: null }, ['all']],
    ['a cleared append', { cleared: true }, []],
  ] as const)('for %s', (_name, changes, expected) =>
    expect(actionsOn({ ...append, ...changes }, null)).toEqual(expected),
  );

  const ofPartner = { file_path: 'summer.csv' };
  const running = { ...ofPartner, status: 1 } as const;
  it.each([
    ['a failed append of their own files', {}, ['failed', 'all']],
    ['a failed append of files of the partner', ofPartner, []],
    ['a failed append of files of another customer', { file_path: 'customers/70/summer.csv' }, []],
    ['a running append of files of the partner', running, ['cancel']],
  ] as const)('for a customer and %s', (_name, changes, expected) =>
    expect(actionsOn({ ...append, ...changes }, 'customers/7/')).toEqual(expected),
  );
});

describe('isRetriedByPartner', () => {
  const failed = {
    status: 3,
    cleared: false,
    files: null,
    cancel_requested_at: null,
    file_path: 'summer.csv',
  } as const;
  it.each([
    ['a failed append of files of the partner', failed, 'customers/7/', true],
    ['a failed append of their own files', { ...failed, file_path: 'customers/7/a.csv' }, 'customers/7/', false],
    ['a loaded append', { ...failed, status: 2 }, 'customers/7/', false],
    ['a failed append that the partner reads', failed, null, false],
  ] as const)('for %s', (_name, append, folder, expected) => expect(isRetriedByPartner(append, folder)).toBe(expected));
});

describe('sentenceOf', () => {
  const progress = {
    bytes_read: 0,
    bytes_total: 0,
    percent: 0,
    rows_read: 0,
    queue_position: 0,
    estimated_seconds_left: null,
  };
  const behind = { ...progress, queue_position: 2 };
  it.each([
    ['This audience is empty. Append files to fill it.', { status: 2, total_files: 0 }],
    ['It starts next.', { status: 0 }],
    ['Waiting behind 2 earlier jobs.', { status: 0, progress: behind }],
    ['Waiting behind 2 earlier jobs.', { status: 1, progress: behind }],
    ['Loading files.', { status: 1 }],
    ['All files are loaded.', { status: 2 }],
    [
      '1,001 files failed. Fix and append them again, or dismiss the failed entries.',
      { status: 3, failed_files: 1_001, total_files: 2_000 },
    ],
  ] as const)('%s', (expected, changes) =>
    expect(sentenceOf({ total_files: 1, failed_files: 0, progress, ...changes })).toBe(expected),
  );
});

describe('versionOfReasons', () => {
  const version = (status: 1 | 2 | 3, failed_files: number, rejected_rows: number): string =>
    versionOfReasons({ status, failed_files, rejected_rows });

  it('stays the same while files are loaded without errors', () => {
    expect(version(1, 0, 0)).toBe(version(1, 0, 0));
  });

  it('changes when a file fails, has rejected rows, or is dismissed, and when the load ends', () => {
    const versions = [version(1, 0, 0), version(1, 0, 1), version(1, 1, 1), version(3, 1, 1), version(3, 0, 1)];
    expect(new Set(versions).size).toBe(versions.length);
  });
});
