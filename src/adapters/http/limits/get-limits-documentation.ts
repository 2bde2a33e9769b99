import type { OperationDocumentation } from '../operation-documentation.ts';

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
