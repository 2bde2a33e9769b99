import type { Problem } from '@inlet/sdk/browser';
import type { Entry } from './entry.ts';
import type { Remembered } from './resume.ts';

/** Says why an upload failed and what to do. */
export function describeFailure(failure: { readonly problem: Problem } | { readonly storageStatus: number }): string {
  if ('problem' in failure) {
    const { problem } = failure;
    return problem.from === 'sdk' ? 'The API did not respond. Check your connection and try again.' : problem.detail;
  }
  if (failure.storageStatus === 0) return 'The storage did not respond. Check your connection and try again.';
  return `The storage refused the upload (status ${failure.storageStatus}). Try again.`;
}

type Checked = Pick<Entry, 'checked' | 'isGzip' | 'step'>;

export type Findings = {
  /** Files that would fail completely. */
  readonly failing: number;
  readonly rejectedRows: number;
  readonly validRows: number;
  readonly unchecked: number;
  /** An import declares the same compression for all of its files. */
  readonly isMixed: boolean;
  readonly isGzip: boolean;
};

export function findingsOf(entries: readonly Checked[], earlier: readonly Pick<Remembered, 'is_gzip'>[]): Findings {
  const kinds = [...entries.map(({ isGzip }) => isGzip), ...earlier.map(({ is_gzip }) => is_gzip)];
  const checked = entries.flatMap((entry) => entry.checked ?? []);
  return {
    failing: entries.filter(wouldFail).length,
    rejectedRows: checked.reduce((sum, { rows }) => sum + rows.bad, 0),
    validRows: checked.reduce((sum, { rows }) => sum + rows.good, 0),
    unchecked: entries.filter((entry) => entry.checked === undefined).length,
    isMixed: new Set(kinds).size > 1,
    isGzip: kinds[0] ?? false,
  };
}

export function wouldFail({ checked }: Pick<Entry, 'checked'>): boolean {
  return checked === null || (checked !== undefined && checked.fault !== null);
}
