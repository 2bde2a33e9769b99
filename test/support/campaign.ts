import * as fc from 'fast-check';
import { inject } from 'vitest';

// Property and fuzz tests have a short, repeatable version for the gate and a long version for `npm run test:long`.

const isLong = inject('campaign') === 'long';

/** The number of runs: few in the gate, many in a long campaign. */
export function runsOf(counts: { readonly short: number; readonly long: number }): number {
  return isLong ? counts.long : counts.short;
}

/** Fixed, so that a failure can be reproduced. Change it to test other values. */
export const campaignSeed = 18;

type Campaign = { readonly runs: number; readonly lanes: number };

/** The time limit for shrinking a failing value. */
const shrinkMs = 60_000;

/**
 * Like `fc.assert`, but tests several values concurrently. After a failure, waits for the other values and then shrinks
 * the failing value sequentially. Returns the number of values that passed.
 */
export async function assertInLanes<T>(
  arbitrary: fc.Arbitrary<T>,
  { runs, lanes }: Campaign,
  check: (value: T) => Promise<void>,
): Promise<number> {
  const seed = campaignSeed;
  const values = fc.sample(arbitrary, { seed, numRuns: runs });
  const queue = values.entries();
  let passed = 0;
  let failed: { readonly run: number; readonly error: unknown } | undefined;
  const lane = async (): Promise<void> => {
    for (const [run, value] of queue) {
      if (failed) return;
      try {
        await check(value);
        passed += 1;
      } catch (error) {
        failed ??= { run, error };
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (!failed) return passed;
  const { run, error } = failed;
  const shrunk = await fc.check(fc.asyncProperty(arbitrary, check), {
    seed,
    path: String(run),
    interruptAfterTimeLimit: shrinkMs,
  });
  const smallest = shrunk.counterexample ? fc.stringify(shrunk.counterexample) : 'did not fail again by itself';
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(`seed ${seed}, run ${run}: ${reason}\nshrunk: ${smallest}`, { cause: error });
}
