import { describe, expect, it } from 'vitest';
import { Failure, requireAll } from './failure.ts';

describe('failures', () => {
  it('a failure exposes its code, its detail, and its catalog entry', () => {
    const failure = new Failure('no_files', 'No object has the path "a.csv".');
    expect(failure).toMatchObject({
      name: 'Failure',
      message: 'no_files: No object has the path "a.csv".',
      code: 'no_files',
      detail: 'No object has the path "a.csv".',
      fields: [],
      entry: { title: 'No files found', fault: 'partner', isRetryable: false },
    });
    expect(failure).toBeInstanceOf(Error);
  });

  it('a failure exposes the invalid fields and the cause', () => {
    const cause = new Error('socket closed');
    const fields = [{ pointer: '/file_path', detail: 'is empty' }];
    const failure = new Failure('invalid_request', 'file_path is empty', { cause, fields });
    expect(failure.cause).toBe(cause);
    expect(failure.fields).toEqual(fields);
  });

  it('a failure has no cause property if no cause is given', () => {
    expect(Object.hasOwn(new Failure('internal', 'oh'), 'cause')).toBe(false);
  });

  it('a failure is final unless its catalog entry is retryable', () => {
    expect(new Failure('corrupt_gzip', '').isFinal).toBe(true);
    expect(new Failure('unavailable', '').isFinal).toBe(false);
    expect(new Failure('load_abandoned', '').isFinal).toBe(false);
    expect(new Failure('job_not_retryable', '').isFinal).toBe(true);
  });
});

const fails = (failure: Error) => (): never => {
  throw failure;
};
const path = new Failure('invalid_file_path', 'file_path is empty.', {
  fields: [{ pointer: '/file_path', detail: 'file_path is empty.' }],
});
const region = new Failure('invalid_region', 'no region', {
  fields: [{ pointer: '/credentials/region', detail: 'no region' }],
});
const failureOf = (...checks: (() => void)[]): unknown => {
  try {
    requireAll(checks);
    return null;
  } catch (error) {
    return error;
  }
};

describe('requireAll', () => {
  it('passes when every check passes', () => {
    expect(failureOf(() => undefined)).toBeNull();
    expect(failureOf()).toBeNull();
  });

  it('throws a single failure unchanged', () => {
    expect(failureOf(() => undefined, fails(region))).toBe(region);
  });

  it('throws the first failure with the invalid fields of all failures, in order', () => {
    const failure = failureOf(fails(path), () => undefined, fails(region));
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({
      code: 'invalid_file_path',
      detail: path.detail,
      fields: [...path.fields, ...region.fields],
    });
  });

  it('rethrows an error that is not a failure', () => {
    const bug = new TypeError('bug');
    expect(failureOf(fails(path), fails(bug))).toBe(bug);
  });
});
