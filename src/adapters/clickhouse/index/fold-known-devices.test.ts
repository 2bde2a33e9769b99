import { describe, expect, it } from 'vitest';
import { joinRanges } from './fold-known-devices.ts';

describe('joinRanges', () => {
  it.each([
    { name: 'nothing', ranges: [], joined: [] },
    {
      name: 'adjacent ranges',
      ranges: [
        [4, 6],
        [1, 3],
      ],
      joined: [[1, 6]],
    },
    {
      name: 'a range inside another',
      ranges: [
        [1, 9],
        [2, 3],
        [10, 10],
      ],
      joined: [[1, 10]],
    },
    {
      name: 'ranges with a gap',
      ranges: [
        [1, 3],
        [5, 6],
      ],
      joined: [
        [1, 3],
        [5, 6],
      ],
    },
  ] satisfies { name: string; ranges: [number, number][]; joined: [number, number][] }[])(
    'joins $name',
    ({ ranges, joined }) => {
      expect(joinRanges(ranges)).toEqual(joined);
    },
  );
});
