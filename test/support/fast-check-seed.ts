import * as fc from 'fast-check';
import { inject } from 'vitest';

/** Every run checks the same values, so that a failure repeats. The long run checks ten times as many by default. */
fc.configureGlobal({ seed: 18, numRuns: inject('campaign') === 'long' ? 1_000 : 100 });
