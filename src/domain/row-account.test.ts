import { describe, expect, it } from 'vitest';
import { shardDifference, stagingDifference } from './row-account.ts';

describe('a row account', () => {
  it('is balanced if every accepted row is staged on exactly one shard', () => {
    expect(stagingDifference(10, [4, 6])).toBeNull();
    expect(stagingDifference(0, [0])).toBeNull();
  });

  it.each([
    ['rows are missing', 10, [4, 5]],
    ['rows are staged twice', 10, [10, 10]],
    ['a shard is missing', 10, [4]],
    ['no shard was counted', 10, []],
  ])('has a difference if %s', (_, expected, staged) => {
    expect(stagingDifference(expected, staged)).toContain('10 rows were accepted');
  });

  it('compares the published rows of each shard, not only their sum', () => {
    expect(shardDifference([4, 6], [4, 6])).toBeNull();
    expect(shardDifference([4, 6], [6, 4])).toBe('4 + 6 rows were staged, but 6 + 4 were found.');
    expect(shardDifference([4, 6], [4])).not.toBeNull();
    expect(shardDifference([4, 6], [4, 6, 0])).not.toBeNull();
  });
});
