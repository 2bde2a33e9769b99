import type { Figures, Wanted } from './fuzz.ts';

/** In MB. Samples vary by tens of MB, depending on the last garbage collection. */
const mostGrowth = 100;

/**
 * Compares the last sample with the sample after the first tenth of the run, when code is compiled and caches are full.
 */
export function isFlat([early, ...later]: readonly number[]): boolean {
  const late = later.at(-1);
  return early !== undefined && late !== undefined && late - early < mostGrowth;
}

/** Returns the violations that a run found. */
export function violationsOf(
  { failures, requests, seconds, megabytes }: Figures,
  wanted: Wanted,
  isRunning: boolean,
): string[] {
  // The first violation makes the later checks meaningless.
  if (failures.length > 0) return [...failures];
  if (!isRunning) return ['the API is no longer running'];
  if (requests < wanted.requests) return [`${requests} of ${wanted.requests} requests in ${seconds} s`];
  return isFlat(megabytes) ? [] : [`memory is not flat: ${megabytes.join(', ')} MB`];
}
