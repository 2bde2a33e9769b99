import type { ImportLog, ImportLogError } from '@inlet/sdk/browser';
import { describe, expect, it } from 'vitest';
import {
  afterCancel,
  canCancel,
  canRetry,
  canRetryFailed,
  describeProgress,
  nameOf,
  rejectedRows,
  summaryOf,
} from './describe-import.ts';

const record: ImportLog = {
  import_log_id: 7,
  file_path: 'monday/',
  path_type: 0,
  key_type: 1,
  status: 2,
  log_type: 0,
  keys: null,
  unique_devices: '90',
  total_rows: '100',
  mode: 'merge',
  suppressed: 0,
  errors: null,
  created_at: '2026-11-18T10:00:00.000Z',
  updated_at: '2026-11-18T10:00:00.000Z',
  started_at: null,
  finished_at: null,
  cancel_requested_at: null,
  cancel_requested_by: null,
  canceled_by: null,
  requested_by: null,
  retry_of: null,
  subscription_id: null,
  progress: {
    bytes_read: 0,
    bytes_total: 0,
    percent: 0,
    rows_read: 0,
    queue_position: 0,
    estimated_seconds_left: null,
  },
};

const ofRows: ImportLogError = { code: 'invalid_id', message: '', file: 'a', row: 3, column: 'id', count: 8 };
const moreRows: ImportLogError = { ...ofRows, code: 'empty_id', count: 20 };
const ofFile: ImportLogError = { ...ofRows, code: 'wrong_shape', row: null, column: null, count: 2 };
const ofJob: ImportLogError = { ...ofFile, code: 'no_files', file: null, count: 1 };
const errors = [ofRows, ofFile, moreRows, ofJob];

describe('canCancel', () => {
  it.each([
    ['a waiting import', { status: 0, log_type: 0 }, true],
    ['a running import', { status: 1, log_type: 0 }, true],
    ['a waiting delete', { status: 0, log_type: 1 }, true],
    ['a delete that has started', { status: 1, log_type: 1 }, false],
    ['a failed import', { status: 3, log_type: 0 }, false],
    [
      'an import that is already being canceled',
      { status: 1, log_type: 0, cancel_requested_at: record.created_at },
      false,
    ],
  ] as const)('tells whether %s can be canceled', (_name, changes, expected) => {
    expect(canCancel({ ...record, ...changes })).toBe(expected);
  });
});

describe('canRetryFailed', () => {
  const error = { code: 'no_good_row', message: '', file: 'a.csv', row: null, column: null, count: 1 };
  it.each([
    ['a failed file and loaded rows', '5', [error], true],
    ['only rejected rows', '5', [{ ...error, row: 2 }], false],
    ['a failure of the whole import', '0', [{ ...error, file: null }], false],
    ['no rows at all', '0', [error], false],
    ['no errors', '5', null, false],
  ])('with %s: %s rows', (_name, total_rows, given, expected) =>
    expect(canRetryFailed({ total_rows, errors: given, mode: 'merge' })).toBe(expected),
  );

  it('is false for an import that replaces data, which needs all of its files', () => {
    expect(canRetryFailed({ total_rows: '5', errors: [error], mode: 'replace' })).toBe(false);
  });
});

describe('canRetry', () => {
  it.each([
    ['a failed import', { status: 3 }, true],
    ['an import that is done', { status: 2 }, false],
    ['a failed delete', { status: 3, log_type: 1 }, false],
    ["a failed import from the partner's own bucket", { status: 3, path_type: 1 }, true],
  ] as const)('tells whether %s can be retried', (_name, changes, expected) => {
    expect(canRetry({ ...record, ...changes })).toBe(expected);
  });
});

describe('afterCancel', () => {
  it.each([
    ['an import', {}, 'You can retry the import later.'],
    ["an import from the partner's own bucket", { path_type: 1 }, 'retry the import later with the credentials'],
    ['a delete', { log_type: 1 }, 'submit the delete again'],
  ] as const)('says what the user can do after canceling %s', (_name, changes, text) => {
    expect(afterCancel({ ...record, ...changes })).toContain(text);
  });
});

describe('rejectedRows', () => {
  it('counts only rows', () => expect(rejectedRows({ errors })).toBe(28));
  it('is 0 without errors', () => expect(rejectedRows({ errors: null })).toBe(0));
});

describe('nameOf', () => {
  it.each([
    [{}, 'monday/'],
    [{ log_type: 1, keys: ['music'] }, 'Delete music'],
    [{ log_type: 1, keys: ['music', 'sports', 'golf'] }, 'Delete music and 2 more'],
  ] as const)('names %j as %s', (fields, name) => expect(nameOf({ ...record, ...fields })).toBe(name));
});

describe('describeProgress', () => {
  const { progress } = record;
  it.each([
    [{ status: 0, progress: { ...progress, queue_position: 1 } }, '1 job ahead'],
    [
      { status: 0, progress: { ...progress, queue_position: 3, estimated_seconds_left: 65 } },
      '3 jobs ahead · 1 min 5 s left',
    ],
    [{ status: 0, progress }, 'Next in line'],
    [{ status: 1, progress: { ...progress, percent: 41.9, estimated_seconds_left: 5 } }, '41% · 5 s left'],
    [{ status: 2, progress: { ...progress, percent: 100 } }, ''],
    [{ status: 3, progress, cancel_requested_at: record.created_at }, 'canceled'],
  ] as const)('describes %j', (fields, text) =>
    expect(describeProgress({ cancel_requested_at: null, ...fields })).toBe(text),
  );
});

describe('summaryOf', () => {
  it.each([
    [{ status: 0 }, 'It starts next.'],
    [{ status: 0, progress: { ...record.progress, queue_position: 2 } }, 'Waiting behind 2 earlier jobs.'],
    [{ status: 1 }, 'Loading files.'],
    [{ status: 2 }, '100 rows loaded, none rejected.'],
    [{ errors: [ofRows] }, '92 rows loaded, 8 rows rejected. Fix the rejected rows and import them again.'],
    [{ status: 3, errors }, '2 files failed. The reasons are below. Data for 90 devices was loaded.'],
    [{ status: 3, errors, unique_devices: '0' }, '2 files failed. The reasons are below. Nothing was loaded.'],
    [
      { status: 3, errors, unique_devices: '0', mode: 'replace' },
      '2 files failed. The reasons are below. Nothing was loaded. A retry loads all files, because the import replaces data.',
    ],
    [{ status: 3, errors: [ofJob], unique_devices: '0' }, 'The job failed. Nothing was loaded.'],
    [{ status: 3, cancel_requested_at: record.created_at }, 'Canceled. Data for 90 devices was loaded.'],
    [{ status: 3, log_type: 1 }, 'The job failed.'],
    [{ log_type: 1, status: 2 }, 'The data for these keys was deleted.'],
  ] as const)('summarizes %j as %s', (fields, text) => expect(summaryOf({ ...record, ...fields })).toBe(text));
});
