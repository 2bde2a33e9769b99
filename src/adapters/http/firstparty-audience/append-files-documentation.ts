import { invalidFilePath, tooManyOpenJobs } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { audienceId, noSuchAudience } from './audience-documentation.ts';

export const appendFilesDocumentation: OperationDocumentation = {
  summary: 'Append files to an audience',
  description:
    'Queues more files. They are merged with what is there; a device counts once. A file that is loaded already is ignored, one that failed or was overwritten is loaded.',
  params: audienceId,
  bodies: { prefix: { summary: 'Every file under a prefix', value: { file_path: 'acme/summer/' } } },
  answer: { description: 'The files are queued.' },
  failures: {
    ...noSuchAudience,
    invalid_request: {
      detail: 'The request breaks a rule; see errors.',
      errors: [{ pointer: '/file_path', detail: 'Invalid input: expected string, received number' }],
    },
    ...invalidFilePath,
    ...tooManyOpenJobs,
  },
};
