import { describe, expect, it } from 'vitest';
import { failureOfRows } from './file-outcome.ts';

describe('the outcome of a file', () => {
  it.each([
    { accepted: 1, rejected: 0, share: 0 },
    { accepted: 1, rejected: 99, share: 1 },
    { accepted: 99, rejected: 1, share: 0.01 },
  ])('is good with $accepted good and $rejected bad rows where a share of $share may be bad', ({ share, ...rows }) => {
    expect(failureOfRows(rows, share)).toBeNull();
  });

  it.each([
    { accepted: 99, rejected: 1, share: 0, detail: '1 of 100 rows were rejected; none may be.' },
    { accepted: 98, rejected: 2, share: 0.01, detail: '2 of 100 rows were rejected; 1% may be.' },
  ])('is a failure with more bad rows than may be: $detail', ({ share, detail, ...rows }) => {
    expect(failureOfRows(rows, share)).toMatchObject({ code: 'bad_rows', detail, isFinal: true });
  });

  it.each([0, 1])('is a failure when every row was bad, with a share of %s', (share) => {
    expect(failureOfRows({ accepted: 0, rejected: 3 }, share)).toMatchObject({
      code: 'no_good_row',
      detail: 'All 3 rows were rejected.',
      isFinal: true,
    });
  });

  it.each([0, 1])('is a failure when there was no row, with a share of %s', (share) => {
    expect(failureOfRows({ accepted: 0, rejected: 0 }, share)).toMatchObject({ code: 'empty_file', isFinal: true });
  });
});
