import type { ImportLog, ImportLogError } from '@inlet/sdk/browser';

/** A reason, and what it concerns: rejected rows, failed files, or the whole job. */
export type Reason = ImportLogError & { readonly of: 'rows' | 'files' | 'job' };

/** The reasons: first failures of the whole job, then failed files, and then rejected rows, each sorted by count. */
export function reasonsOf({ errors }: Pick<ImportLog, 'errors'>): readonly Reason[] {
  const rank = { job: 0, files: 1, rows: 2 } as const;
  return (errors ?? [])
    .map((error) => ({ ...error, of: error.row !== null ? 'rows' : error.file !== null ? 'files' : 'job' }) as const)
    .toSorted((a, b) => rank[a.of] - rank[b.of] || b.count - a.count);
}
