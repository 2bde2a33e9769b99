import type { Figures, Wanted } from './fuzz.ts';

/** Some tens of MB come and go: the heap is not always as empty when it is looked at. */
const mostGrowth = 100;

/** Whether memory stays about as it was after the first tenth, when code is compiled and caches are full. */
export function isFlat([early, ...later]: readonly number[]): boolean {
  const late = later.at(-1);
  return early !== undefined && late !== undefined && late - early < mostGrowth;
}

/** What is wrong with a run; empty when nothing is. */
export function violationsOf(
  { failures, requests, seconds, megabytes }: Figures,
  wanted: Wanted,
  isRunning: boolean,
): string[] {
  // Each says nothing about what comes after it.
  if (failures.length > 0) return [...failures];
  if (!isRunning) return ['the api does not run any more'];
  if (requests < wanted.requests) return [`${requests} of ${wanted.requests} requests in ${seconds} s`];
  return isFlat(megabytes) ? [] : [`memory is not flat: ${megabytes.join(', ')} MB`];
}
