import { appendFiles, emptyAudience, type ModelAudience, type ModelFiles } from '../support/audience-model.ts';
import { withDatabase, type TestStores } from '../support/stores.ts';
import { applyJob, type ModelState } from '../support/warehouse-model.ts';
import { deletion, endOf, invalidFile, type SubmittedJob, type Expected } from '../fault/fault-partner.ts';
import { match, type JobRow } from './match-jobs.ts';
import type { PartnerRecord, Request } from './record.ts';

// Derives the expected final state from a partner's record. The stores are used only to find out which requests without
// a response took effect. Any other difference is a finding.

export async function expectedOf(
  stores: TestStores,
  record: PartnerRecord,
): Promise<{ expected: Expected; wrong: string[] }> {
  const jobs = await withDatabase(stores, async (client) => {
    const { rows } = await client.query<JobRow>(
      `SELECT j.id::int, j.kind, coalesce(l.file_path, a.file_path, '') AS folder, l.keys, a.audience_id::int,
         audience.name AS audience, a.generation, audience.generation AS current
       FROM job j LEFT JOIN import_log l ON l.job_id = j.id LEFT JOIN audience_load a ON a.job_id = j.id
         LEFT JOIN audience ON audience.id = a.audience_id
       WHERE j.partner_id = $1 ORDER BY j.seq`,
      [record.partnerId],
    );
    return rows;
  });
  const { requestOf, wrong } = match(record, jobs);
  const submitted: SubmittedJob[] = [];
  const pairs: ModelState = new Set();
  const audiences = new Map<number, ModelAudience>();
  for (const job of jobs) {
    const request = requestOf.get(job.id);
    if (!request) continue;
    const { what } = request;
    if (what.kind === 'delete') {
      submitted.push({ kind: 'import', id: job.id, ...deletion });
      applyJob(pairs, what);
    } else if (what.kind === 'merge' || what.kind === 'replace') {
      const { isInvalid, files } = what;
      submitted.push({ kind: 'import', id: job.id, ...(isInvalid ? invalidFile : endOf(files)) });
      if (!isInvalid) applyJob(pairs, { kind: what.kind, files });
    } else if ('audience' in what && 'files' in what && job.audience_id !== null) {
      submitted.push({ kind: 'audience', id: job.audience_id });
      const model = audiences.get(job.audience_id) ?? emptyAudience();
      audiences.set(job.audience_id, model);
      const files: ModelFiles = new Map(what.files.map((file, n) => [`${request.folder}${n}.csv`, file]));
      if (job.generation === job.current) appendFiles(model, files, request.folder);
    }
  }
  wrong.push(...generationsOf(record, jobs, requestOf));
  return { expected: { id: record.partnerId, submitted, pairs, audiences }, wrong };
}

/** Loads before the last clear belong to an older generation. Later loads belong to the current generation. */
function generationsOf(
  record: PartnerRecord,
  jobs: readonly JobRow[],
  requestOf: ReadonlyMap<number, Request>,
): string[] {
  return jobs.flatMap((job) => {
    const request = requestOf.get(job.id);
    if (!request || !('audience' in request.what)) return [];
    const { audience } = request.what;
    const clears = record.requests.filter(
      ({ what, answer }) => what.kind === 'clear' && what.audience === audience && answer,
    );
    const last = clears.at(-1);
    const isCleared = last !== undefined && record.requests.indexOf(request) < record.requests.indexOf(last);
    return isCleared === (job.generation !== job.current)
      ? []
      : [
          `partner ${record.partnerId}, job ${job.id}: ${isCleared ? 'not removed by a clear' : 'removed without a clear'}`,
        ];
  });
}
