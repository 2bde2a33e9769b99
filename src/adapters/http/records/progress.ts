import { z } from 'zod';
import { type JobStatus, type Progress, jobStatus } from '../../../domain/job.ts';

export const progressSchema = z
  .object({
    bytes_read: z.int(),
    bytes_total: z.int().meta({ description: 'Total size of all files. 0 until the files are listed.' }),
    percent: z.number().min(0).max(100),
    rows_read: z.int(),
    queue_position: z.int().meta({
      description:
        "Number of the partner's open jobs ahead of this one, including audience loads. Jobs that were canceled before their start do not count.",
    }),
    estimated_seconds_left: z.int().nullable().meta({
      description:
        'Estimated seconds until the job finishes. For a waiting job, the estimate is based on how long your last jobs took. Null if no estimate is possible yet.',
    }),
  })
  .meta({ id: 'Progress' });

type ProgressRecord = z.infer<typeof progressSchema>;

/**
 * All bytes are read before the rows are counted and published. Therefore, the percentage is below 100 until the job is
 * done or has failed.
 */
export function progressRecord(progress: Progress, status: JobStatus): ProgressRecord {
  const isFinal = status === jobStatus.done || status === jobStatus.failed;
  const share = progress.bytesTotal === 0 ? 0 : progress.bytesRead / progress.bytesTotal;
  return {
    bytes_read: progress.bytesRead,
    bytes_total: progress.bytesTotal,
    percent: isFinal ? 100 : Math.min(99, Math.floor(share * 1000) / 10),
    rows_read: progress.rowsRead,
    queue_position: progress.queuePosition,
    // An append without new files ends a moment after the audience shows that everything is loaded.
    estimated_seconds_left: isFinal ? 0 : progress.secondsLeft,
  };
}
