import {
  type Column,
  bytesOf,
  countOf,
  escapeTerminal,
  fieldList,
  outputFor,
  several,
  table,
  wholeNumber,
} from '@inlet/cli';
import { type Command, InvalidArgumentError } from 'commander';
import { type JobStatus, jobStatus } from '../../domain/job.ts';
import { cancelJob, noSuchJob, retryJob } from '../../usecases/admin/manage-jobs.ts';
import type { FileState, JobState, LaneState } from '../../ports/operations.ts';
import { type OutputOptions, operatorCommand, parseId, printList, statusName, when } from './output.ts';
import { withWiring } from './with-wiring.ts';

const shownFiles = 1_000;

type JobRecord = ReturnType<typeof jobRecord>;

const jobColumns: readonly Column<JobRecord>[] = [
  { title: 'JOB', align: 'right', of: ({ job_id }) => job_id },
  { title: 'PARTNER', of: ({ partner }) => partner, canShrink: true },
  { title: 'KIND', of: ({ kind }) => kind },
  { title: 'STATUS', of: ({ status, canceled }) => (canceled ? `${status} (canceled)` : status) },
  { title: 'CREATED', of: ({ created_at }) => when(created_at) },
  { title: 'FINISHED', of: ({ finished_at }) => when(finished_at) },
  { title: 'ERROR', of: ({ error }) => error?.code ?? '-' },
  { title: 'PATH', of: ({ file_path }) => file_path || '-', canShrink: true },
];

const fileColumns: readonly Column<ReturnType<typeof fileRecord>>[] = [
  { title: 'FILE', align: 'right', of: ({ file_id }) => file_id },
  { title: 'STATUS', of: ({ status, staged }) => (staged && status === 'running' ? `${status} (staged)` : status) },
  { title: 'SIZE', align: 'right', of: ({ bytes }) => bytesOf(bytes) },
  { title: 'ROWS', align: 'right', of: ({ rows }) => countOf(rows) },
  { title: 'ACCEPTED', align: 'right', of: ({ accepted_rows }) => countOf(accepted_rows) },
  { title: 'ATTEMPTS', align: 'right', of: ({ attempts }) => attempts },
  { title: 'ERROR', of: ({ error }) => error?.code ?? '-' },
  { title: 'PATH', of: ({ path }) => path, canShrink: true },
];

const laneColumns: readonly Column<ReturnType<typeof laneRecord>>[] = [
  { title: 'PARTNER', of: ({ partner }) => partner, canShrink: true },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'OPEN JOBS', align: 'right', of: ({ open_jobs }) => countOf(open_jobs) },
  { title: 'OLDEST JOB', align: 'right', of: ({ oldest_job }) => oldest_job.job_id },
  { title: 'KIND', of: ({ oldest_job }) => oldest_job.kind },
  { title: 'STATUS', of: ({ oldest_job }) => oldest_job.status },
  { title: 'FILES LEFT', align: 'right', of: ({ files }) => countOf(files.open) },
  { title: 'LAST PROGRESS', of: ({ last_progress_at }) => when(last_progress_at) },
  { title: 'NEXT ATTEMPT', of: ({ next_attempt_at }) => when(next_attempt_at) },
  { title: 'LAST FAILURE', of: ({ last_failure }) => failureText(last_failure) },
];

/** `unavailable (clickhouse)` */
function failureText(failure: LaneState['lastFailure']): string {
  if (failure === null) return '-';
  return failure.dependency === null ? failure.code : `${failure.code} (${failure.dependency})`;
}

type ListOptions = OutputOptions & {
  readonly partner?: string;
  readonly status?: JobStatus;
  readonly limit: number;
};

export function addJobCommands(program: Command): void {
  const jobs = program.command('jobs').description('manage imports, deletes, and audience loads of all partners');
  operatorCommand(jobs, 'list', 'list jobs, newest first (default)', { isDefault: true })
    .option('--partner <name>', 'list only jobs of this partner')
    .option('--status <status>', `list only jobs with this status: ${Object.keys(jobStatus).join(', ')}`, toStatus)
    .option('--limit <number>', 'maximum number of entries', wholeNumber(1, 999_999), 50)
    .action(({ partner, status, limit, ...options }: ListOptions) =>
      withWiring(async ({ operations }) => {
        const statuses = status === undefined ? Object.values(jobStatus) : [status];
        const filter = { partner: partner ?? null, statuses, beforeId: Number.MAX_SAFE_INTEGER, limit };
        const found = (await operations.listJobs(filter)).map(jobRecord);
        printList(outputFor(options), jobColumns, found, 'There are no jobs.');
      }),
    );
  operatorCommand(jobs, 'show', `show a job and its first ${shownFiles} files with their attempts, rows, and errors`)
    .argument('<id>', 'job ID, which is also the import log ID')
    .action((text: string, options: OutputOptions) =>
      withWiring(async ({ operations }) => {
        const id = parseId('job', text);
        const found = await operations.findJob(id, shownFiles);
        if (!found) throw noSuchJob(id);
        const job = jobRecord(found.job);
        const files = found.files.map(fileRecord);
        const output = outputFor(options);
        output.result({ ...job, files }, () =>
          [
            fieldList(jobFields(job), output.stdout),
            files.length === 0 ? 'The job has no files.' : `\n${table(fileColumns, files, output.stdout)}`,
          ].join('\n'),
        );
        for (const { file_id, error } of files.slice(0, 10)) {
          if (error) output.note(`File ${file_id}: ${error.message}`);
        }
      }),
    );
  addJobActions(jobs);
  operatorCommand(program, 'lanes', 'list lanes with open jobs and the state of each lane, longest wait first')
    .option('--limit <number>', 'maximum number of entries', wholeNumber(1, 999_999), 100)
    .action(({ limit, ...options }: OutputOptions & { limit: number }) =>
      withWiring(async ({ operations }) => {
        const lanes = (await operations.listLanes({ afterJobId: 0, limit })).map(laneRecord);
        printList(outputFor(options), laneColumns, lanes, 'No lane has open jobs.');
      }),
    );
}

function jobFields(job: JobRecord): [string, string][] {
  return [
    ['job', String(job.job_id)],
    ['partner', job.partner],
    ['kind', job.kind],
    ['status', job.canceled ? `${job.status} (canceled)` : job.status],
    ...(job.error === null ? [] : [['error', `${job.error.code}: ${job.error.message}`] satisfies [string, string]]),
    ['path', job.file_path || '-'],
    ['lane position', String(job.lane_position)],
    ['created', when(job.created_at)],
    ['started', when(job.started_at)],
    ['finished', when(job.finished_at)],
  ];
}

// The fields have the same names as in the operator API. States are names instead of codes.

function jobRecord(job: JobState) {
  return {
    job_id: job.id,
    partner: job.partner,
    kind: job.kind,
    status: statusName(job.status),
    canceled: job.isCancelled,
    file_path: job.path,
    error: errorOf(job),
    lane_position: job.seq,
    created_at: job.createdAt,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
  };
}

function fileRecord(file: FileState) {
  return {
    file_id: file.id,
    path: file.path,
    bytes: file.bytes,
    status: statusName(file.status),
    staged: file.isStaged,
    attempts: file.attempts,
    rows: file.rows,
    accepted_rows: file.acceptedRows,
    error: errorOf(file),
  };
}

function laneRecord(lane: LaneState) {
  return {
    partner_id: lane.partnerId,
    partner: lane.partner,
    state: lane.is,
    open_jobs: lane.openJobs,
    oldest_job: {
      job_id: lane.oldestJob.id,
      kind: lane.oldestJob.kind,
      status: statusName(lane.oldestJob.status),
      created_at: lane.oldestJob.since,
      started_at: lane.oldestJob.startedAt,
    },
    files: { open: lane.files.open, loading: lane.files.loading, finished: lane.files.ended },
    last_progress_at: lane.lastProgressAt,
    next_attempt_at: lane.dueAt,
    last_failure: lane.lastFailure,
  };
}

function errorOf({ failure }: Pick<JobState, 'failure'>): { readonly code: string; readonly message: string } | null {
  return failure && { code: failure.code, message: failure.detail };
}

function toStatus(text: string): JobStatus {
  const found = Object.entries(jobStatus).find(([name]) => name === text);
  if (!found) throw new InvalidArgumentError(`Use one of ${Object.keys(jobStatus).join(', ')}.`);
  return found[1];
}

function addJobActions(jobs: Command): void {
  operatorCommand(jobs, 'cancel', 'cancel a pending or running job; files that are not completely read are not loaded')
    .argument('<id>', 'job ID')
    .action((text: string, options: OutputOptions) =>
      withWiring(async (deps) => {
        const output = outputFor(options);
        const id = parseId('job', text);
        const canceled = await cancelJob(deps, id);
        output.result({ job_id: id, ...cancellationRecord(canceled) }, () =>
          escapeTerminal(`job ${id} ${describeCancellation(canceled)}`),
        );
        output.note(`Follow it with \`inlet jobs show ${id}\`.`);
      }),
    );
  operatorCommand(jobs, 'retry', "submit a failed job again at the end of the partner's lane")
    .argument('<id>', 'ID of the failed job')
    .action((text: string, options: OutputOptions) =>
      withWiring(async (deps) => {
        const output = outputFor(options);
        const retried = parseId('job', text);
        const id = await retryJob(deps, retried);
        output.result({ job_id: id, retry_of: retried }, () => `job ${id} repeats job ${retried}`);
        output.note(`Follow it with \`inlet jobs show ${id}\`.`);
      }),
    );
}

type Canceled = Awaited<ReturnType<typeof cancelJob>>;

function cancellationRecord(canceled: Canceled): object {
  return canceled.is === 'stopped'
    ? { started: true, canceled_files: canceled.cancelledFiles, other_files: canceled.otherFiles }
    : { started: false, finished: canceled.hasEnded, jobs_ahead: canceled.jobsAhead };
}

function describeCancellation(canceled: Canceled): string {
  if (canceled.is === 'stopped') {
    const { cancelledFiles, otherFiles } = canceled;
    const others =
      otherFiles === 0 ? '' : `; ${several(otherFiles, 'file was', 'files were')} already read and will be loaded`;
    return `is being canceled: ${several(cancelledFiles, 'file')} will not be loaded${others}`;
  }
  if (canceled.hasEnded) return 'was canceled before it started';
  if (canceled.jobsAhead === 0) return 'was canceled before it started; a worker ends it after other canceled jobs';
  return `was canceled before it started; it ends when it reaches the head of its lane (jobs ahead: ${canceled.jobsAhead})`;
}
