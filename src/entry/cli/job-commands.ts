import { wholeNumber } from '@inlet/cli';
import { type Command, InvalidArgumentError } from 'commander';
import { type JobStatus, jobStatus } from '../../domain/job.ts';
import { noSuchJob } from '../../usecases/admin/manage-jobs.ts';
import { addJobActions } from './job-actions.ts';
import { sayJson } from './output.ts';
import { toId } from './to-id.ts';
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
        sayJson(await operations.listJobs({ partner: partner ?? null, statuses, limit }));
      }),
    );
  jobs
    .command('show')
    .description(`a job with its first ${shownFiles} files: attempts, rows, and why it failed`)
    .argument('<id>', 'the id of the job, which is that of the import log')
    .action((id: string) =>
      withWiring(async ({ operations }) => {
        const found = await operations.findJob(toId('job', id), shownFiles);
        if (!found) throw noSuchJob(toId('job', id));
        sayJson({ ...found.job, files: found.files });
      }),
    );
  addJobActions(jobs);
  program
    .command('lanes')
    .description('partners with open jobs, the one that waits longest first, and what each waits for')
    .option('--limit <number>', 'at most so many', wholeNumber(1, 999_999), 100)
    .action(({ limit }: { limit: number }) =>
      withWiring(async ({ operations }) => sayJson(await operations.listLanes(limit))),
    );
}

function toStatus(text: string): JobStatus {
  const found = Object.entries(jobStatus).find(([name]) => name === text);
  if (!found) throw new InvalidArgumentError(`It is one of ${Object.keys(jobStatus).join(', ')}.`);
  return found[1];
}
