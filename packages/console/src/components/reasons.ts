import type { ImportLog, ImportLogError } from '@inlet/sdk/browser';

/** What one reason concerns: rejected rows, files that failed, or the whole job. */
export type Reason = ImportLogError & { readonly of: 'rows' | 'files' | 'job' };

/** The reasons, those that failed most first. What failed as a whole comes before single rows. */
export function reasonsOf({ errors }: Pick<ImportLog, 'errors'>): readonly Reason[] {
  const rank = { job: 0, files: 1, rows: 2 } as const;
  return (errors ?? [])
    .map((error) => ({ ...error, of: error.row !== null ? 'rows' : error.file !== null ? 'files' : 'job' }) as const)
    .toSorted((a, b) => rank[a.of] - rank[b.of] || b.count - a.count);
}
