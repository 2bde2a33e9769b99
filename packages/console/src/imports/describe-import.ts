import type { ImportLog } from '@inlet/sdk/browser';
import { reasonsOf } from '../components/reasons.ts';
import { formatCount, formatDuration } from '../format.ts';

export function isOpen({ status }: Pick<ImportLog, 'status'>): boolean {
  return status < 2;
}

/** Whether the API would accept a request to cancel the job. A delete that has started cannot be undone. */
export function canCancel(record: Pick<ImportLog, 'status' | 'log_type' | 'cancel_requested_at'>): boolean {
  return isOpen(record) && record.cancel_requested_at === null && (record.log_type === 0 || record.status === 0);
}

/** Says what the user can do after canceling the job. */
export function afterCancel({ log_type, path_type }: Pick<ImportLog, 'log_type' | 'path_type'>): string {
  if (log_type === 1) return 'To delete the data later, submit the delete again.';
  if (path_type === 0) return 'You can retry the import later.';
  return 'You can retry the import later with the credentials of your bucket.';
}

/** Whether the job can be retried. The API also rejects a retry of a subscription's import whose files another job has. */
export function canRetry({ status, log_type }: Pick<ImportLog, 'status' | 'log_type'>): boolean {
  return status === 3 && log_type === 0;
}

/** Whether the API accepts a retry of only the failed files, and such a retry may differ from a retry of all files. */
export function canRetryFailed({
  total_rows,
  errors,
  mode,
}: Pick<ImportLog, 'total_rows' | 'errors' | 'mode'>): boolean {
  return (
    mode === 'merge' && Number(total_rows) > 0 && (errors ?? []).some(({ row, file }) => row === null && file !== null)
  );
}

/** Whether the API would accept a request to export the rejected rows. */
export function canExportRejects(record: Pick<ImportLog, 'status' | 'log_type' | 'errors'>): boolean {
  return !isOpen(record) && record.log_type === 0 && rejectedRows(record) > 0;
}

/** Counts rejected rows. Entries without a row concern a file or the whole job. */
export function rejectedRows({ errors }: Pick<ImportLog, 'errors'>): number {
  return (errors ?? []).reduce((sum, { row, count }) => (row === null ? sum : sum + count), 0);
}

export function nameOf({ log_type, keys, file_path }: ImportLog): string {
  if (log_type === 0) return file_path;
  const [first = '', ...others] = keys ?? [];
  return others.length === 0 ? `Delete ${first}` : `Delete ${first} and ${formatCount(others.length)} more`;
}

/**
 * Describes the progress of the job: `3 jobs ahead`, `42% · 2 min 5 s left`, `canceled`. Empty for other jobs that have
 * ended.
 */
export function describeProgress({
  status,
  progress,
  cancel_requested_at: canceledAt,
}: Pick<ImportLog, 'status' | 'progress' | 'cancel_requested_at'>): string {
  if (canceledAt !== null) return 'canceled';
  const { queue_position: ahead, percent, estimated_seconds_left: left } = progress;
  const time = left === null ? '' : ` · ${formatDuration(left)} left`;
  if (status === 0) return ahead === 0 ? `Next in line${time}` : `${several(ahead, 'job')} ahead${time}`;
  return status === 1 ? `${Math.floor(percent)}%${time}` : '';
}

/** What a failed import loaded despite the failure. An import that replaces data has loaded no devices in this case. */
function loadedOf(devices: number): string {
  return devices === 0 ? 'Nothing was loaded.' : `Data for ${several(devices, 'device')} was loaded.`;
}

function several(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Says what a record means and what to do next. */
export function summaryOf(record: ImportLog): string {
  const rejected = rejectedRows(record);
  const rows = Number(record.total_rows);
  const isDelete = record.log_type === 1;
  if (record.cancel_requested_at !== null && isOpen(record)) {
    return 'Canceled. The job has not ended yet.';
  }
  if (record.status === 0) {
    const ahead = record.progress.queue_position;
    return ahead === 0 ? 'It starts next.' : `Waiting behind ${several(ahead, 'earlier job')}.`;
  }
  if (record.status === 1) return isDelete ? 'Deleting the data for these keys.' : 'Loading files.';
  if (record.status === 3) {
    const failed = reasonsOf(record).filter(({ of }) => of === 'files');
    const files = failed.reduce((sum, { count }) => sum + count, 0);
    const what =
      record.cancel_requested_at !== null
        ? 'Canceled.'
        : files === 0
          ? 'The job failed.'
          : `${several(files, 'file')} failed. The reasons are below.`;
    if (isDelete) return what;
    const retried = record.mode === 'replace' ? ' A retry loads all files, because the import replaces data.' : '';
    return `${what} ${loadedOf(Number(record.unique_devices))}${retried}`;
  }
  if (isDelete) return 'The data for these keys was deleted.';
  return rejected === 0
    ? `${several(rows, 'row')} loaded, none rejected.`
    : `${several(rows - rejected, 'row')} loaded, ${several(rejected, 'row')} rejected. Fix the rejected rows and import them again.`;
}
