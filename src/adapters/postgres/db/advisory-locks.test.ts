import { describe, expect, it } from 'vitest';
import { advisoryLocks } from './advisory-locks.ts';

describe('advisory lock keys', () => {
  it('uses a different key for every advisory lock', () => {
    const keys = Object.values(advisoryLocks);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
