import { describe, expect, it } from 'vitest';
import { Failure } from './failure.ts';
import { requireAll } from './gather-failures.ts';

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

describe('several checks of one request', () => {
  it('fail as none, when none fails', () => {
    expect(failureOf(() => undefined)).toBeNull();
    expect(failureOf()).toBeNull();
  });

  it('fail as the one that fails, unchanged', () => {
    expect(failureOf(() => undefined, fails(region))).toBe(region);
  });

  it('fail in the words of the first, with the fields of all in their order', () => {
    const failure = failureOf(fails(path), () => undefined, fails(region));
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({
      code: 'invalid_file_path',
      detail: path.detail,
      fields: [...path.fields, ...region.fields],
    });
  });

  it('hide nothing that is no failure', () => {
    const bug = new TypeError('a mistake of ours');
    expect(failureOf(fails(path), fails(bug))).toBe(bug);
  });
});
