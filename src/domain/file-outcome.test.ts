import { describe, expect, it } from 'vitest';
import { failureOfRows } from './file-outcome.ts';

describe('the outcome of a file', () => {
  it.each([
    { accepted: 1, rejected: 0 },
    { accepted: 1, rejected: 99 },
  ])('is good with $accepted good and $rejected bad rows', (rows) => {
    expect(failureOfRows(rows)).toBeNull();
  });

  it('is a failure when every row was bad', () => {
    expect(failureOfRows({ accepted: 0, rejected: 3 })).toMatchObject({
      code: 'no_good_row',
      detail: 'All 3 rows were rejected.',
      isFinal: true,
    });
  });

  it('is a failure when there was no row', () => {
    expect(failureOfRows({ accepted: 0, rejected: 0 })).toMatchObject({ code: 'empty_file', isFinal: true });
  });
});
