import type { PartnerRecord, Request } from './record.ts';

export type JobRow = {
  id: number;
  kind: 'import' | 'delete' | 'audience';
  folder: string;
  keys: string[] | null;
  audience_id: number | null;
  audience: string | null;
  generation: number | null;
  current: number | null;
};

/**
 * Assigns each job to a request. A confirmed request has exactly one job, in request order. Any other request has at
 * most one.
 */
export function match(
  record: PartnerRecord,
  jobs: readonly JobRow[],
): { requestOf: Map<number, Request>; wrong: string[] } {
  const wrong: string[] = [];
  const requestOf = new Map<number, Request>();
  const name = `partner ${record.partnerId}`;
  const ofJobs = record.requests.filter(({ what }) => what.kind !== 'clear');
  for (const job of jobs) {
    const free = ofJobs.filter((request) => isOf(request, job) && ![...requestOf.values()].includes(request));
    // Prefers the request whose response contains the job ID over an equal request without a response.
    const found = free.find(({ answer }) => answer?.jobId === job.id) ?? free[0];
    if (found) requestOf.set(job.id, found);
    else wrong.push(`${name}, job ${job.id} (${job.kind} ${job.folder}): no matching request`);
  }
  const matched = [...requestOf.values()];
  const answered = ofJobs.filter(({ answer }) => answer !== null);
  for (const request of answered) {
    if (!matched.includes(request))
      wrong.push(`${name}: ${request.what.kind} ${request.folder} was accepted but is lost`);
  }
  const order = matched.filter(({ answer }) => answer !== null);
  if (order.some((request, n) => request !== answered[n]))
    wrong.push(`${name}: jobs are not in the order of acceptance`);
  return { requestOf, wrong };
}

function isOf({ folder, what, answer }: Request, job: JobRow): boolean {
  if (answer !== null && answer.jobId !== null) return answer.jobId === job.id && folder === job.folder;
  if (what.kind === 'delete') return job.kind === 'delete' && String(what.attributes) === String(job.keys);
  return folder === job.folder && job.kind === ('audience' in what ? 'audience' : 'import');
}
