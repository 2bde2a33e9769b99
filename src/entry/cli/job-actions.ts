import type { Command } from 'commander';
import { cancelJob, retryJob } from '../../usecases/admin/manage-jobs.ts';
import { complain, sayJson } from './output.ts';
import { toId } from './to-id.ts';
import { withWiring } from './with-wiring.ts';

/** What changes something, on behalf of a partner. */
export function addJobActions(jobs: Command): void {
  jobs
    .command('cancel')
    .description('end a pending or running job: files that are not read to their end are not loaded; status 3')
    .argument('<id>', 'the id of the job')
    .action((text: string) =>
      withWiring(async (deps) => {
        const id = toId('job', text);
        const cancelled = await cancelJob(deps, id);
        sayJson({ id, ...cancelled });
        complain(`Job ${id}: ${whatFollows(cancelled)} See \`inlet jobs show ${id}\`.`);
      }),
    );
  jobs
    .command('retry')
    .description("ask for the same again after status 3, at the end of the partner's lane; says the id of the new job")
    .argument('<id>', 'the id of the job that failed')
    .action((text: string) =>
      withWiring(async (deps) => {
        const retried = toId('job', text);
        const id = await retryJob(deps, retried);
        sayJson({ id, retried });
        complain(`Job ${id} asks for the same as job ${retried}. See \`inlet jobs show ${id}\`.`);
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
