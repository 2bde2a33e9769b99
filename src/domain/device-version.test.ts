import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { versionsOfJob } from './job.ts';

describe('the versions of a job', () => {
  it('gives an add precedence over a delete in the same job', () => {
    const { ofAdds, ofDeletes } = versionsOfJob(7);
    expect(ofAdds).toBeGreaterThan(ofDeletes);
  });

  it('gives every row of a later job precedence over every row of an earlier job', () => {
    const place = fc.integer({ min: 1, max: 2 ** 51 });
    fc.assert(
      fc.property(place, (seq) => {
        expect(versionsOfJob(seq + 1).ofDeletes).toBeGreaterThan(versionsOfJob(seq).ofAdds);
        expect(Number.isSafeInteger(versionsOfJob(seq).ofAdds)).toBe(true);
      }),
    );
  });
});
