import { wholeNumber } from '@inlet/cli';
import { type Command, InvalidArgumentError } from 'commander';
import { type JobStatus, jobStatus } from '../../domain/job.ts';
import { cancelJob, noSuchJob, retryJob } from '../../usecases/admin/manage-jobs.ts';
import { printNote, printJson, parseId } from './output.ts';
import { withWiring } from './with-wiring.ts';

const shownFiles = 1_000;

export function addJobCommands(program: Command): void {
  const jobs = program.command('jobs').description('manage imports, deletes, and audience loads of all partners');
  jobs
    .command('list')
    .description('list jobs, newest first')
    .option('--partner <name>', 'list only jobs of this partner')
    .option('--status <status>', `list only jobs with this status: ${Object.keys(jobStatus).join(', ')}`, toStatus)
    .option('--limit <number>', 'maximum number of entries', wholeNumber(1, 999_999), 50)
    .action(({ partner, status, limit }: { partner?: string; status?: JobStatus; limit: number }) =>
      withWiring(async ({ operations }) => {
        const statuses = status === undefined ? Object.values(jobStatus) : [status];
        printJson(
          await operations.listJobs({ partner: partner ?? null, statuses, beforeId: Number.MAX_SAFE_INTEGER, limit }),
        );
      }),
    );
  jobs
    .command('show')
    .description(`show a job and its first ${shownFiles} files with their attempts, rows, and errors`)
    .argument('<id>', 'job ID, which is also the import log ID')
    .action((id: string) =>
      withWiring(async ({ operations }) => {
        const found = await operations.findJob(parseId('job', id), shownFiles);
        if (!found) throw noSuchJob(parseId('job', id));
        printJson({ ...found.job, files: found.files });
      }),
    );
  addJobActions(jobs);
  program
    .command('lanes')
    .description('list lanes with open jobs and the state of each lane, longest wait first')
    .option('--limit <number>', 'maximum number of entries', wholeNumber(1, 999_999), 100)
    .action(({ limit }: { limit: number }) =>
      withWiring(async ({ operations }) => printJson(await operations.listLanes({ afterJobId: 0, limit }))),
    );
}

function toStatus(text: string): JobStatus {
  const found = Object.entries(jobStatus).find(([name]) => name === text);
  if (!found) throw new InvalidArgumentError(`Use one of ${Object.keys(jobStatus).join(', ')}.`);
  return found[1];
}

function addJobActions(jobs: Command): void {
  jobs
    .command('cancel')
    .description('cancel a pending or running job; files that are not completely read are not loaded')
    .argument('<id>', 'job ID')
    .action((text: string) =>
      withWiring(async (deps) => {
        const id = parseId('job', text);
        const cancelled = await cancelJob(deps, id);
        printJson({ id, ...cancelled });
        printNote(`Job ${id}: ${describeCancellation(cancelled)} Run \`inlet jobs show ${id}\` to follow it.`);
      }),
    );
  jobs
    .command('retry')
    .description("submit a failed job again at the end of the partner's lane and print the ID of the new job")
    .argument('<id>', 'ID of the failed job')
    .action((text: string) =>
      withWiring(async (deps) => {
        const retried = parseId('job', text);
        const id = await retryJob(deps, retried);
        printJson({ id, retried });
        printNote(`Job ${id} repeats job ${retried}. Run \`inlet jobs show ${id}\` to follow it.`);
      }),
    );
}

function describeCancellation(cancelled: Awaited<ReturnType<typeof cancelJob>>): string {
  if (cancelled.is === 'stopped') {
    const { cancelledFiles, otherFiles } = cancelled;
    const others = otherFiles === 0 ? '' : ` ${otherFiles} files were already read and are not canceled.`;
    return `canceled ${cancelledFiles} files. The job ends shortly.${others}`;
  }
  if (cancelled.hasEnded) return 'canceled before it started.';
  return `canceled before it started. It ends when it reaches the head of its lane (jobs ahead: ${cancelled.jobsAhead}).`;
}
