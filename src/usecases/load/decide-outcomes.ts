import { faultOfRows } from '@inlet/row-rule/file-rule';
import { Failure } from '../../domain/failure.ts';
import { failureOf } from '../../domain/file-failure.ts';
import { type BatchClaim, type FileOutcome, type LoadCounts, noRows, rejectedRows } from '../../ports/load-stage.ts';

/** The result of staging a file. `alone` means that the decompressed file is too large to be loaded with others. */
export type StageResult =
  | { readonly is: 'staged'; readonly fileId: number }
  | { readonly is: 'alone'; readonly fileId: number }
  | { readonly is: 'failed'; readonly fileId: number; readonly failure: Failure };

/**
 * Decides the outcome of each file. A staged file fails if too many of its rows were rejected. One file's failure does
 * not affect the others.
 */
export function decideFileOutcomes(
  results: readonly StageResult[],
  counted: ReadonlyMap<number, LoadCounts>,
  badRowShare: number,
): FileOutcome[] {
  return results.map((result): FileOutcome => {
    if (result.is === 'alone') return result;
    if (result.is === 'failed') return { ...result, counts: noRows };
    const { fileId } = result;
    const counts = counted.get(fileId) ?? noRows;
    const fault = faultOfRows({ accepted: counts.accepted, rejected: rejectedRows(counts) }, badRowShare);
    return fault ? { is: 'failed', fileId, counts, failure: failureOf(fault) } : { is: 'staged', fileId, counts };
  });
}

/**
 * Decides the outcomes in a batch that has no attempts left. One file may be the cause, so each file in a larger batch
 * is first retried alone.
 */
export function decideAbandonedOutcomes({ files, attempt }: Pick<BatchClaim, 'files' | 'attempt'>): FileOutcome[] {
  if (files.length > 1) return files.map(({ fileId }) => ({ is: 'alone', fileId }));
  const failure = new Failure('load_abandoned', `The file could not be loaded after ${attempt - 1} attempts.`);
  return files.map(({ fileId }) => ({ is: 'failed', fileId, counts: noRows, failure }));
}

/**
 * Whether this worker must load the batch again immediately. This is the case if the file with the batch's ID must be
 * loaded alone. That file keeps the batch's token, which this worker holds, and the queue accepts no second token for
 * it.
 */
export function isReloadDue({ batchId }: Pick<BatchClaim, 'batchId'>, outcomes: readonly FileOutcome[]): boolean {
  return outcomes.some(({ is, fileId }) => is === 'alone' && fileId === batchId);
}
