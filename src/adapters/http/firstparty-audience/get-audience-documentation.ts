import { notModified, recordHeaders } from '../follow-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { audienceDetailsExample, audienceId, noSuchAudience } from './audience-documentation.ts';

export const getAudienceDocumentation: OperationDocumentation = {
  summary: 'Get the details of an audience',
  description:
    'Its status, its counts and its files. The status is that of the files: 1 while one is loading, 0 while they wait, 3 if one failed, else 2.',
  params: audienceId,
  headers: recordHeaders,
  answer: { description: 'The audience.', example: audienceDetailsExample, isTagged: true },
  otherAnswers: notModified,
  failures: noSuchAudience,
};
