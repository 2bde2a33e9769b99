import * as fc from 'fast-check';
import { inject } from 'vitest';

/**
 * Every run checks the same values, so that failures are reproducible. By default, the long run checks ten times as
 * many values.
 */
fc.configureGlobal({ seed: 18, numRuns: inject('campaign') === 'long' ? 1_000 : 100 });
