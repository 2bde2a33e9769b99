import { describe, expect, it } from 'vitest';
import { pathFailure } from './path-errors.ts';

function refusedWith(code: string): Error {
  return Object.assign(new Error(`${code}: x`), { code, syscall: 'open' });
}

describe('what the system refuses', () => {
  it.each([
    ['read', 'EACCES', 1, 'unreadable_file: a.csv cannot be read: permission denied (EACCES).'],
    ['read', 'ENOENT', 2, 'wrong_use: There is no file or folder a.csv.'],
    ['read', 'EBUSY', 1, 'unreadable_file: a.csv cannot be read: EBUSY.'],
    ['written', 'ENOSPC', 1, 'unwritable_file: a.csv cannot be written: the disk is full (ENOSPC).'],
    ['written', 'ENOENT', 1, 'unwritable_file: a.csv cannot be written: it is not there (ENOENT).'],
  ] as const)('%s with %s ends with %i', (what, code, exitCode, message) => {
    const failure = pathFailure('a.csv', what, refusedWith(code));
    expect(failure).toMatchObject({ message, told: { exitCode } });
    expect(failure).not.toMatchObject({ told: { remedy: '' } });
  });

  it('is not what a mistake of our own is', () => {
    const mistake = new TypeError('x is undefined');
    expect(pathFailure('a.csv', 'read', mistake)).toBe(mistake);
  });
});
