import { type JobStatus, jobStatus } from './job.ts';

/**
 * Result of canceling a job. `never started`: the job has no files and ends when the jobs ahead of it have ended.
 * `stopped`: unstaged files have failed, and the lane publishes the staged files and then ends the job. The other
 * results mean that nothing was canceled: the job had ended, a delete had started, or no files were left to cancel.
 */
export type Cancellation =
  | { readonly is: 'never started' }
  | { readonly is: 'stopped'; readonly cancelledFiles: number; readonly otherFiles: number }
  | { readonly is: 'ended before'; readonly status: JobStatus }
  | { readonly is: 'deleting' }
  | { readonly is: 'loaded' };

/** Who canceled a job. */
export const cancelRequesters = ['partner', 'operator'] as const;
export type CancelRequester = (typeof cancelRequesters)[number];

/** `name` is the API key or the user, such as "key 12". Null for an operator. */
export type CancelRequest = { readonly at: Date; readonly by: CancelRequester; readonly name: string | null };

export type Canceled = Extract<Cancellation, { readonly is: 'never started' | 'stopped' }>;

/** Returns why nothing was canceled, as the end of a sentence about the job. */
export function whyNotCanceled(state: Exclude<Cancellation, Canceled>): string {
  if (state.is === 'deleting') return 'has started to delete rows, which cannot be undone';
  if (state.is === 'loaded') return 'has no files left to cancel; all have failed, are loaded, or are being published';
  return state.status === jobStatus.done ? 'is done' : 'has already failed';
}

export function isCanceled<State extends Cancellation>(state: State): state is State & Canceled {
  return state.is === 'never started' || state.is === 'stopped';
}
