import { describe, expect, it } from 'vitest';
import { Failure } from './failure.ts';
import { defaultQuotas, requireQuota } from './quota.ts';

const quotas = { ...defaultQuotas, audiences: 10, foreignKeys: 10 };

function failureOf(used: number, added: number): string | null {
  try {
    requireQuota('foreignKeys', quotas, { used, added });
    return null;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `${error.code}: ${error.detail}`;
  }
}

describe('a quota of 10', () => {
  it.each([
    [0, 10, null],
    [9, 1, null],
    [10, 1, 'quota_exceeded: The quota foreign_keys is 10. 10 are used.'],
    [9, 2, 'quota_exceeded: The quota foreign_keys is 10. 9 are used, and the request adds 2.'],
    [12, 1, 'quota_exceeded: The quota foreign_keys is 10. 12 are used.'],
    [12, 0, null],
    [12, -1, null],
  ])('with %i used and %i requested has the result: %s', (used, added, expected) => {
    expect(failureOf(used, added)).toBe(expected);
  });
});
