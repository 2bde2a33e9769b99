import { z } from 'zod';
import { type Limits, type RequestLimits, maxKeysPerDelete } from '../../../domain/limits.ts';
import type { PartnerStore } from '../../../ports/partner-store.ts';
import { partnerOf } from '../authentication.ts';
import { defineRoute } from '../operation.ts';

const limit = (description: string) => z.int().meta({ description });

export const limitsSchema = z
  .object({
    requests_per_minute_per_key: limit('Maximum number of requests per minute with this API key.'),
    requests_per_minute_per_partner: limit("Maximum number of requests per minute with all of the partner's API keys."),
    open_jobs: limit('Maximum number of unfinished jobs per partner. Up to 20 deletes are accepted beyond this limit.'),
    files_per_prefix: limit('Maximum number of files in one job.'),
    keys_per_delete: limit('Maximum number of keys in one delete request.'),
    audience_bad_row_share: z.number().min(0).max(1).meta({
      description: 'Share of rejected rows that an audience file may have. With 0, one rejected row fails the file.',
    }),
    gzip_file_bytes: limit('Maximum size of a gzipped file.'),
    plain_file_bytes: limit('Maximum size of an uncompressed file, and of a gzipped file after decompression.'),
    line_bytes: limit('Maximum length of a line. A longer line is rejected.'),
    body_bytes: limit('Maximum size of a request body.'),
    header_bytes: limit('Maximum size of the request headers, including the path.'),
  })
  .meta({ id: 'Limits' });

type Deps = { readonly limits: Limits; readonly requestLimits: RequestLimits; readonly partners: PartnerStore };

export const getLimits = defineRoute({
  id: 'getLimits',
  tag: 'limits',
  method: 'GET',
  path: '/v1/limits',
  scope: 'any',
  summary: 'Get your limits',
  description:
    'Returns your rate and size limits. The `RateLimit` header of every response shows how many requests are left in the current minute.',
  response: {
    status: 200,
    description: 'The limits.',
    schema: limitsSchema,
    example: {
      requests_per_minute_per_key: 300,
      requests_per_minute_per_partner: 1_200,
      open_jobs: 200,
      files_per_prefix: 10_000,
      keys_per_delete: 1_000,
      audience_bad_row_share: 0,
      gzip_file_bytes: 5_000_000_000,
      plain_file_bytes: 50_000_000_000,
      line_bytes: 102_400,
      body_bytes: 1_048_576,
      header_bytes: 16_384,
    },
  },
  problems: {},
  handler:
    ({ limits, requestLimits, partners }: Deps) =>
    async (request) => ({
      requests_per_minute_per_key: requestLimits.perKey,
      requests_per_minute_per_partner: requestLimits.perPartner,
      open_jobs: limits.maxOpenJobs,
      files_per_prefix: limits.maxFilesPerPrefix,
      keys_per_delete: maxKeysPerDelete,
      audience_bad_row_share: (await partners.readSettings(partnerOf(request).id)).audienceBadRowShare,
      gzip_file_bytes: limits.maxGzipFileBytes,
      plain_file_bytes: limits.maxPlainFileBytes,
      line_bytes: limits.maxLineBytes,
      body_bytes: requestLimits.maxBodyBytes,
      header_bytes: requestLimits.maxHeaderBytes,
    }),
});
