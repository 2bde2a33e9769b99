import { operations } from '@inlet/contract/operations';
import type { Limits, RequestLimits } from '../../../domain/limits.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';

export const getLimitsDocumentation: OperationDocumentation = {
  summary: 'Get the limits',
  description:
    'What applies to the caller: the most of each thing. How many requests are left in the current minute is in the header `RateLimit` of every answer.',
  answer: {
    description: 'The limits.',
    example: {
      requests_per_minute_per_key: 300,
      requests_per_minute_per_partner: 1_200,
      open_jobs: 200,
      files_per_prefix: 10_000,
      gzip_file_bytes: 5_000_000_000,
      plain_file_bytes: 50_000_000_000,
      line_bytes: 102_400,
      body_bytes: 1_048_576,
      header_bytes: 16_384,
    },
  },
  failures: {},
};

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
