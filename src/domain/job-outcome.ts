import type { FailureCode } from './failure-catalogue.ts';
import { Failure } from './failure.ts';

/** By this a job that the operator cancelled, and each file that it therefore did not load, is known. */
export const cancelledCode = 'job_cancelled' satisfies FailureCode;

const remedy = 'Ask the operator why, then ask for it again.';

export function cancelledBeforeStart(): Failure {
  return new Failure(cancelledCode, `The operator cancelled the job before it started. ${remedy}`);
}

export function cancelledFile(): Failure {
  return new Failure(cancelledCode, `The operator cancelled the job before this file was read. ${remedy}`);
}

type Files = { readonly failedFiles: number; readonly cancelledFiles: number; readonly loadedFiles: number };

/** What its files mean for a job that has come to its end. */
export function failureOfJob({ failedFiles, cancelledFiles, loadedFiles }: Files): Failure | null {
  const all = failedFiles + loadedFiles;
  if (cancelledFiles > 0)
    return new Failure(
      cancelledCode,
      `The operator cancelled the job: ${cancelledFiles} of ${all} files were left out.`,
    );
  return failedFiles === 0 ? null : new Failure('file_failed', `${failedFiles} of ${all} files failed.`);
}
