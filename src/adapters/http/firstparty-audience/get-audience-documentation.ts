import type { OperationDocumentation } from '../operation-documentation.ts';
import { audienceExample, audienceId, noSuchAudience } from './audience-documentation.ts';

export const getAudienceDocumentation: OperationDocumentation = {
  summary: 'Get the details of an audience',
  description:
    'Its status, its counts and its files. The status is that of the files: 1 while one is loading, 0 while they wait, 3 if one failed, else 2.',
  params: audienceId,
  answer: {
    description: 'The audience.',
    example: {
      ...audienceExample,
      file: [
        {
          s3_path: 'acme/acme/summer/1.csv',
          status: 2,
          rows_uploaded: 2000,
          updated_at: '2026-11-15T01:12:19.120Z',
        },
      ],
    },
  },
  failures: noSuchAudience,
};
