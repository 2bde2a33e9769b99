import { wholeNumber } from '@inlet/cli';
import { type Command, InvalidArgumentError } from 'commander';
import { type JobStatus, jobStatus } from '../../domain/job.ts';
import { cancelJob, noSuchJob, retryJob } from '../../usecases/admin/manage-jobs.ts';
import { printNote, printJson, parseId } from './output.ts';
import { withWiring } from './with-wiring.ts';

const shownFiles = 1_000;

export function addJobCommands(program: Command): void {
  const jobs = program.command('jobs').description('jobs of all partners: imports, deletes and audience loads');
  jobs
    .command('list')
    .description('the newest jobs')
    .option('--partner <name>', 'of this partner only')
    .option('--status <status>', `${Object.keys(jobStatus).join(', ')}; all of them when left out`, toStatus)
    .option('--limit <number>', 'at most so many', wholeNumber(1, 999_999), 50)
    .action(({ partner, status, limit }: { partner?: string; status?: JobStatus; limit: number }) =>
      withWiring(async ({ operations }) => {
        const statuses = status === undefined ? Object.values(jobStatus) : [status];
        printJson(await operations.listJobs({ partner: partner ?? null, statuses, limit }));
      }),
    );
  jobs
    .command('show')
    .description(`a job with its first ${shownFiles} files: attempts, rows, and why it failed`)
    .argument('<id>', 'the id of the job, which is that of the import log')
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
    .description('partners with open jobs, the one that waits longest first, and what each waits for')
    .option('--limit <number>', 'at most so many', wholeNumber(1, 999_999), 100)
    .action(({ limit }: { limit: number }) =>
      withWiring(async ({ operations }) => printJson(await operations.listLanes(limit))),
    );
}

function toStatus(text: string): JobStatus {
  const found = Object.entries(jobStatus).find(([name]) => name === text);
  if (!found) throw new InvalidArgumentError(`It is one of ${Object.keys(jobStatus).join(', ')}.`);
  return found[1];
}

/** What changes something, on behalf of a partner. */
function addJobActions(jobs: Command): void {
  jobs
    .command('cancel')
    .description('end a pending or running job: files that are not read to their end are not loaded; status 3')
    .argument('<id>', 'the id of the job')
    .action((text: string) =>
      withWiring(async (deps) => {
        const id = parseId('job', text);
        const cancelled = await cancelJob(deps, id);
        printJson({ id, ...cancelled });
        printNote(`Job ${id}: ${whatFollows(cancelled)} See \`inlet jobs show ${id}\`.`);
      }),
    );
  jobs
    .command('retry')
    .description("ask for the same again after status 3, at the end of the partner's lane; says the id of the new job")
    .argument('<id>', 'the id of the job that failed')
    .action((text: string) =>
      withWiring(async (deps) => {
        const retried = parseId('job', text);
        const id = await retryJob(deps, retried);
        printJson({ id, retried });
        printNote(`Job ${id} asks for the same as job ${retried}. See \`inlet jobs show ${id}\`.`);
      }),
    );
}

function whatFollows(cancelled: Awaited<ReturnType<typeof cancelJob>>): string {
  if (cancelled.is === 'stopped') {
    const { cancelledFiles, otherFiles } = cancelled;
    const others = otherFiles === 0 ? '' : ` Files that were read to their end before, and are not: ${otherFiles}.`;
    return `${cancelledFiles} of its files were cancelled; the lane ends it in a moment.${others}`;
  }
  if (cancelled.hasEnded) return 'it has ended and never started.';
  return `it will not start, and ends when its turn has come. Jobs ahead of it: ${cancelled.jobsAhead}.`;
}
