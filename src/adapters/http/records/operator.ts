import { z } from 'zod';
import type { FileState, JobState, LaneState, PartnerState } from '../../../ports/operations.ts';
import { dependencies } from '../../../domain/attempt-failure.ts';
import { type Quotas, quotaNames } from '../../../domain/quota.ts';
import { commandsForJob, commandsForLane, commandsForPartner } from '../../../usecases/admin/available-commands.ts';
import { code, status, timestamp } from '../schemas.ts';

const count = (description: string) => z.int().min(0).meta({ description });

const partnerName = z.string().meta({ description: 'Name of the partner.' });
const jobId = z.int().meta({ description: 'ID of the job. For an import or a delete, it is also the import log ID.' });
const kind = z.enum(['import', 'delete', 'audience']).meta({ description: 'What the job does.' });
const cli = z
  .array(
    z.object({
      action: z.enum(['show', 'cancel', 'retry', 'list_jobs', 'list_keys', 'suspend', 'resume']),
      command: z.string().meta({ description: 'The command, as a shell accepts it.' }),
    }),
  )
  .max(10)
  .meta({
    id: 'OperatorCommands',
    description: 'The `inlet` commands that are currently available. The API does not run them.',
  });

const jobFields = {
  job_id: jobId,
  kind,
  status,
  created_at: timestamp,
  started_at: timestamp.nullable().meta({ description: 'When the job started. Null while it is pending.' }),
};

const laneStates = {
  running: 'nothing: a worker is processing the lane',
  'waiting for a worker': 'a free worker',
  'waiting to retry': 'the next attempt, because a dependency was unavailable or an attempt failed',
  'waiting for files to load': 'files that workers are loading',
  'without a token': 'token recovery, which normally takes seconds',
  suspended: 'an operator who resumes the partner',
} as const satisfies Readonly<Record<LaneState['is'], string>>;

const stateNames = {
  running: 'running',
  'waiting for a worker': 'waiting_for_worker',
  'waiting to retry': 'waiting_to_retry',
  'waiting for files to load': 'waiting_for_files',
  'without a token': 'without_token',
  suspended: 'suspended',
} as const satisfies Readonly<Record<LaneState['is'], string>>;

export const operatorLaneSchema = z
  .object({
    partner_id: z.int(),
    partner: partnerName,
    state: z.enum(Object.values(stateNames)).meta({ description: 'Whether a worker is running the lane.' }),
    waits_for: z.string().meta({ description: 'What the lane is waiting for, in words.' }),
    since: timestamp.meta({
      description: 'When the oldest job last finished a file or a step, or when it was submitted. ISO 8601, UTC.',
    }),
    next_attempt_at: timestamp
      .nullable()
      .meta({ description: 'When the lane is tried again. Null if it is not waiting for a retry.' }),
    last_failure: z
      .object({
        code,
        dependency: z.enum(dependencies).nullable().meta({
          description:
            "The dependency that caused the failure: a server, a partner's own bucket, or the AWS service from which Inlet obtains credentials. Null if no dependency caused it, or if the dependency is not known.",
        }),
      })
      .nullable()
      .meta({
        description:
          'Why the last attempt of the lane, or of a file of its oldest job, failed. Null if no attempt has failed since the last success.',
      }),
    paused: z.boolean().meta({ description: 'Whether a backup is pausing publishing. The pause affects all lanes.' }),
    open_jobs: count('Unfinished jobs of the partner, except those that were canceled before their start.'),
    oldest_job: z.object(jobFields).meta({ description: 'The unfinished job that was submitted first.' }),
    files: z
      .object({
        open: count('Files that are not finished.'),
        loading: count('Files that workers are loading or have started to load.'),
        finished: count('Files that are loaded or have failed.'),
      })
      .meta({ description: 'Files of the oldest job.' }),
    cli,
  })
  .meta({ id: 'OperatorLane' });

const failure = z.object({ code, message: z.string() }).nullable();

export const operatorJobSchema = z
  .object({
    ...jobFields,
    partner: partnerName,
    lane_position: z
      .int()
      .meta({ description: "Position in the partner's lane, counted from its first job. Jobs run in this order." }),
    file_path: z
      .string()
      .meta({ description: 'The submitted path, relative to the prefix of the partner. Empty for a delete.' }),
    canceled: z.boolean().meta({ description: 'Whether the job was canceled.' }),
    error: failure.meta({ description: 'Why the job failed. Null unless the status is 3.' }),
    finished_at: timestamp.nullable().meta({ description: 'When the job finished. Null before then.' }),
    cli,
  })
  .meta({ id: 'OperatorJob' });

const operatorFileSchema = z
  .object({
    file_id: z.int(),
    path: z.string(),
    bytes: count('Size of the object.'),
    status,
    staged: z.boolean().meta({ description: 'Whether the file has been read and is waiting to be published.' }),
    attempts: count('Attempts to load the file.'),
    rows: count('Rows that were read.'),
    accepted_rows: count('Rows that were not rejected.'),
    error: failure.meta({ description: 'Why the file failed. Null unless the status is 3.' }),
  })
  .meta({ id: 'OperatorFile' });

/** The number of files in the response for one job. */
export const maxFilesShown = 100;

export const operatorJobDetailsSchema = operatorJobSchema
  .extend({
    files: z
      .array(operatorFileSchema)
      .max(maxFilesShown)
      .meta({ description: `The first ${maxFilesShown} files. \`inlet jobs show\` prints up to 1,000.` }),
    has_more_files: z.boolean(),
  })
  .meta({ id: 'OperatorJobDetails' });

const quota = z.object({
  limit: z.int(),
  used: z.int(),
  measured_at: timestamp.nullable().meta({ description: 'When `used` was measured. Null if it is counted now.' }),
});

export const operatorPartnerSchema = z
  .object({
    partner_id: z.int(),
    name: partnerName,
    created_at: timestamp,
    suspended_at: timestamp
      .nullable()
      .meta({ description: 'When an operator suspended the partner. Null if the partner is not suspended.' }),
    open_jobs: count('Unfinished jobs, except those that were canceled before their start.'),
    api_keys: z.object({
      valid: count('Keys that are neither revoked nor expired.'),
      all: count('All keys.'),
    }),
    last_active_at: timestamp.nullable().meta({
      description: 'When a key was last used or a job was last submitted, accurate to about a minute.',
    }),
    quotas: z
      .object({
        stored_rows: quota,
        stored_bytes: quota,
        audiences: quota,
        attributes: quota,
        foreign_keys: quota,
        webhooks: quota,
        subscriptions: quota,
        idempotency_keys: quota,
      })
      .meta({ description: 'What the partner can store, as in `GET /v1/limits`.' }),
    cli,
  })
  .meta({ id: 'OperatorPartner' });

export function operatorLaneRecord(lane: LaneState, isPaused: boolean): z.input<typeof operatorLaneSchema> {
  const { oldestJob, files } = lane;
  return {
    partner_id: lane.partnerId,
    partner: lane.partner,
    state: stateNames[lane.is],
    waits_for: isPaused ? 'the backup that pauses publishing' : laneStates[lane.is],
    since: lane.lastProgressAt.toISOString(),
    next_attempt_at: lane.dueAt?.toISOString() ?? null,
    last_failure: lane.lastFailure,
    paused: isPaused,
    open_jobs: lane.openJobs,
    oldest_job: {
      job_id: oldestJob.id,
      kind: oldestJob.kind,
      status: oldestJob.status,
      created_at: oldestJob.since.toISOString(),
      started_at: oldestJob.startedAt?.toISOString() ?? null,
    },
    files: { open: files.open, loading: files.loading, finished: files.ended },
    cli: commandsForLane(lane),
  };
}

export function operatorJobRecord(job: JobState): z.input<typeof operatorJobSchema> {
  return {
    job_id: job.id,
    kind: job.kind,
    status: job.status,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    partner: job.partner,
    lane_position: job.seq,
    file_path: job.path,
    canceled: job.isCancelled,
    error: errorOf(job),
    finished_at: job.finishedAt?.toISOString() ?? null,
    cli: commandsForJob(job),
  };
}

export function operatorFileRecord(file: FileState): z.input<typeof operatorFileSchema> {
  return {
    file_id: file.id,
    path: file.path,
    bytes: file.bytes,
    status: file.status,
    staged: file.isStaged,
    attempts: file.attempts,
    rows: file.rows,
    accepted_rows: file.acceptedRows,
    error: errorOf(file),
  };
}

function errorOf({ failure: found }: Pick<JobState, 'failure'>): z.input<typeof failure> {
  return found && { code: found.code, message: found.detail };
}

export function operatorPartnerRecord(partner: PartnerState, quotas: Quotas): z.input<typeof operatorPartnerSchema> {
  const record = (name: keyof Quotas): z.input<typeof quota> => ({
    limit: quotas[name],
    used: partner.usage[name].used,
    measured_at: partner.usage[name].measuredAt?.toISOString() ?? null,
  });
  return {
    partner_id: partner.id,
    name: partner.name,
    created_at: partner.createdAt.toISOString(),
    suspended_at: partner.suspendedAt?.toISOString() ?? null,
    open_jobs: partner.openJobs,
    api_keys: partner.apiKeys,
    last_active_at: partner.lastActiveAt?.toISOString() ?? null,
    quotas: {
      [quotaNames.storedRows]: record('storedRows'),
      [quotaNames.storedBytes]: record('storedBytes'),
      [quotaNames.audiences]: record('audiences'),
      [quotaNames.attributes]: record('attributes'),
      [quotaNames.foreignKeys]: record('foreignKeys'),
      [quotaNames.webhooks]: record('webhooks'),
      [quotaNames.subscriptions]: record('subscriptions'),
      [quotaNames.idempotencyKeys]: record('idempotencyKeys'),
    },
    cli: commandsForPartner(partner),
  };
}

export const operatorJobExample = {
  job_id: 1,
  kind: 'import',
  status: 3,
  created_at: '2026-11-15T01:12:18.268Z',
  started_at: '2026-11-15T01:12:18.301Z',
  partner: 'acme',
  lane_position: 42,
  file_path: 'daily/2026-11-15/',
  canceled: false,
  error: { code: 'file_failed', message: '1 of 2 files failed.' },
  finished_at: '2026-11-15T01:12:18.654Z',
  cli: [
    { action: 'show', command: 'inlet jobs show 1' },
    { action: 'retry', command: 'inlet jobs retry 1' },
  ],
} satisfies z.input<typeof operatorJobSchema>;
