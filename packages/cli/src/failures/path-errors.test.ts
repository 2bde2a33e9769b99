import { describe, expect, it } from 'vitest';
import { pathFailure } from './path-errors.ts';

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: x`), { code, syscall: 'open' });
}

describe('pathFailure', () => {
  it.each([
    ['read', 'EACCES', 1, 'unreadable_file: a.csv cannot be read: permission denied (EACCES).'],
    ['read', 'ENOENT', 2, 'wrong_use: The file or folder a.csv does not exist.'],
    ['read', 'EBUSY', 1, 'unreadable_file: a.csv cannot be read: EBUSY.'],
    ['written', 'ENOSPC', 1, 'unwritable_file: a.csv cannot be written: the disk is full (ENOSPC).'],
    ['written', 'ENOENT', 1, 'unwritable_file: a.csv cannot be written: not found (ENOENT).'],
  ] as const)('maps a path that cannot be %s because of %s to exit code %i', (what, code, exitCode, message) => {
    const failure = pathFailure('a.csv', what, systemError(code));
    expect(failure).toMatchObject({ message, details: { exitCode } });
    expect(failure).not.toMatchObject({ details: { remedy: '' } });
  });

  it('returns other errors unchanged', () => {
    const mistake = new TypeError('x is undefined');
    expect(pathFailure('a.csv', 'read', mistake)).toBe(mistake);
  });
});
