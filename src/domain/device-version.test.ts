import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { versionOfAdds } from './device-version.ts';

describe('the version of added rows', () => {
  it('is odd, so that the deletes of the same job fit below it', () => {
    expect([1, 2, 3].map(versionOfAdds)).toEqual([3, 5, 7]);
  });

  it('is higher for a later job, with room for the deletes of that job between', () => {
    const place = fc.integer({ min: 1, max: 2 ** 51 });
    fc.assert(
      fc.property(place, (seq) => {
        expect(versionOfAdds(seq + 1) - versionOfAdds(seq)).toBe(2);
        expect(Number.isSafeInteger(versionOfAdds(seq))).toBe(true);
      }),
    );
  });
});
