import { invalidFilePath, tooManyOpenJobs } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';

export const createAudienceDocumentation: OperationDocumentation = {
  summary: 'Create an audience',
  description:
    'Makes an audience and queues the file, or every file whose path begins with `file_path`. Names need not be different. Follow the load at `Location`.',
  bodies: {
    prefix: { summary: 'Every file under a prefix', value: { name: 'Summer', file_path: 'acme/summer/' } },
    file: { summary: 'One file', value: { name: 'Winter', file_path: 'acme/winter.csv.gz' } },
  },
  answer: {
    description: 'The audience exists, and its files are queued.',
    example: { audience_id: 1, default_warehouse_segment_id: 500001 },
    location: '/v2/firstparty/audience/1',
  },
  failures: {
    invalid_request: {
      detail: 'The request breaks a rule; see errors.',
      errors: [
        { pointer: '/name', detail: 'Too small: expected string to have >=1 characters' },
        { pointer: '/file_path', detail: 'Invalid input: expected string, received undefined' },
      ],
    },
    ...invalidFilePath,
    ...tooManyOpenJobs,
  },
};
