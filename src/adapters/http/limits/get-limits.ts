import { operations } from '@inlet/contract/operations';
import type { Limits } from '../../../domain/limits.ts';
import type { RequestLimits } from '../../../domain/request-limits.ts';
import type { Api } from '../server.ts';

const { path, answer } = operations.getLimits;

/** What applies to the caller; today the same for all. */
export function addGetLimits(api: Api, deps: { limits: Limits; requestLimits: RequestLimits }): void {
  const { limits, requestLimits } = deps;
  api.get(path, { schema: { response: { 200: answer } } }, async () => ({
    requests_per_minute_per_key: requestLimits.perKey,
    requests_per_minute_per_partner: requestLimits.perPartner,
    open_jobs: limits.maxOpenJobs,
    files_per_prefix: limits.maxFilesPerPrefix,
    gzip_file_bytes: limits.maxGzipFileBytes,
    plain_file_bytes: limits.maxPlainFileBytes,
    line_bytes: limits.maxLineBytes,
    body_bytes: requestLimits.maxBodyBytes,
    header_bytes: requestLimits.maxHeaderBytes,
  }));
}
