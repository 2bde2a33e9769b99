import { isFailureCode } from '../../../domain/failure-catalogue.ts';
import { jobStatus } from '../../../domain/job.ts';
import type { FailedLoad } from '../../../ports/audience-store.ts';
import type { Database } from '../connect.ts';

/** Loads of a generation that failed before they had any files, in the order in which they were asked for. */
export async function selectFailedLoads(
  db: Database,
  of: { readonly audienceId: number; readonly generation: number },
  page: { readonly afterId: number; readonly limit: number },
): Promise<FailedLoad[]> {
  const rows = await db
    .selectFrom('audience_load as load')
    .innerJoin('job', 'job.id', 'load.job_id')
    .innerJoin('partner', 'partner.id', 'load.partner_id')
    .select(['job.id', 'partner.prefix', 'load.file_path', 'job.failure_code', 'job.failure_detail'])
    .where('load.audience_id', '=', of.audienceId)
    .where('load.generation', '=', of.generation)
    .where('load.superseded', '=', false)
    .where('job.status', '=', jobStatus.failed)
    .where('job.listed_at', 'is', null)
    .where('job.id', '>', page.afterId)
    .orderBy('job.id')
    .limit(page.limit)
    .execute();
  return rows.flatMap(({ id, prefix, file_path, failure_code: code, failure_detail: detail }) =>
    code !== null && isFailureCode(code)
      ? [{ jobId: id, path: prefix + file_path, failure: { code, detail: detail ?? '' } }]
      : [],
  );
}
