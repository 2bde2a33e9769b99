import type { FailureCode } from './failure-catalogue.ts';
import { Failure } from './failure.ts';

/** The code of a job that the operator canceled, and of each of its files that were not loaded. */
export const cancelledCode = 'job_cancelled' satisfies FailureCode;

const remedy = 'Ask the operator for the reason, then submit the job again.';

export function cancelledBeforeStart(): Failure {
  return new Failure(cancelledCode, `The operator canceled the job before it started. ${remedy}`);
}

export function cancelledFile(): Failure {
  return new Failure(cancelledCode, `The operator canceled the job before this file was read. ${remedy}`);
}

type Files = { readonly failedFiles: number; readonly cancelledFiles: number; readonly loadedFiles: number };

/** Derives the failure of a finished job from its files. */
export function failureOfJob({ failedFiles, cancelledFiles, loadedFiles }: Files): Failure | null {
  const all = failedFiles + loadedFiles;
  if (cancelledFiles > 0)
    return new Failure(
      cancelledCode,
      `The operator canceled the job: ${cancelledFiles} of ${all} files were not loaded.`,
    );
  return failedFiles === 0 ? null : new Failure('file_failed', `${failedFiles} of ${all} files failed.`);
}
