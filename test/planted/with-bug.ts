import { readFileSync } from 'node:fs';
import { listTrackedFiles, pathInRepository } from '../gates/tree-copy.ts';
import type { Bug } from './bugs.ts';

/**
 * Finds the file that a bug changes and returns its text before and after the change. Throws unless exactly one file
 * matches.
 */
export function withBug({ name, within, changes }: Bug): { path: string; original: string; text: string } {
  const patterns = changes.map(([from, to]) => [patternOf(from), to.trim()] as const);
  const candidates = listTrackedFiles()
    .filter((path) => path.startsWith(within) && path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => ({ path, original: readFileSync(pathInRepository(path), 'utf8') }))
    .filter(({ original }) => patterns.every(([pattern]) => original.split(pattern).length === 2));
  const [found, ...others] = candidates;
  if (!found || others.length > 0) throw new Error(`${candidates.length} files in ${within} match the bug "${name}"`);
  const text = patterns.reduce((before, [pattern, to]) => before.replace(pattern, () => to), found.original);
  return { ...found, text };
}

/** Matches the text with any whitespace, so that reformatting does not break the list of bugs. */
function patternOf(text: string): RegExp {
  return new RegExp(text.trim().split(/\s+/).map(escapeRegExp).join('\\s+'));
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
