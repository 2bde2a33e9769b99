import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LaneHistory, estimateWait } from './lane-estimate.ts';

const at = (second: number): Date => new Date(second * 1000);
const idle = { elapsedSeconds: null, secondsLeft: null };

/** Jobs that were submitted together and took these times, oldest first. */
function backlog(times: readonly number[]): LaneHistory['finished'] {
  let end = 0;
  return times.map((time) => ({ createdAt: at(0), finishedAt: at((end += time)) })).toReversed();
}

describe('estimateWait', () => {
  it('adds the time of the first job to the mean time of each job that waits', () => {
    const finished = backlog([2, 4, 6]);
    expect(estimateWait({ finished, head: idle }, 0)).toBe(4);
    expect(estimateWait({ finished, head: { elapsedSeconds: 5, secondsLeft: 7 } }, 3)).toBe(7 + 3 * 4);
    expect(estimateWait({ finished, head: { elapsedSeconds: 3, secondsLeft: null } }, 1)).toBe(1 + 4);
  });

  it('does not count the time during which the lane was idle', () => {
    const finished = [
      { createdAt: at(1_000), finishedAt: at(1_002) },
      { createdAt: at(0), finishedAt: at(2) },
    ];
    expect(estimateWait({ finished, head: idle }, 4)).toBe(10);
  });

  it('expects a job that already takes longer than average to need a little more time', () => {
    expect(estimateWait({ finished: backlog([8]), head: { elapsedSeconds: 60, secondsLeft: null } }, 0)).toBe(2);
  });

  it('averages the last 20 finished jobs', () => {
    const finished = backlog([...Array.from({ length: 10 }, () => 60), ...Array.from({ length: 20 }, () => 2)]);
    expect(estimateWait({ finished, head: idle }, 50)).toBe(2 + 50 * 2);
  });

  it('is unknown if no job has finished', () => {
    expect(estimateWait({ finished: [], head: idle }, 3)).toBeNull();
  });

  it('is never negative, and never lower with more jobs ahead', () => {
    const times = fc.array(fc.nat({ max: 10_000 }), { minLength: 1, maxLength: 150 });
    fc.assert(
      fc.property(times, fc.nat({ max: 200 }), (given, ahead) => {
        const history = { finished: backlog(given), head: idle };
        const near = estimateWait(history, ahead) ?? -1;
        const far = estimateWait(history, ahead + 1) ?? -1;
        expect(near).toBeGreaterThanOrEqual(0);
        expect(far).toBeGreaterThanOrEqual(near);
      }),
    );
  });
});
