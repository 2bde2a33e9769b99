import { invalidPage, pageParameters } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { audienceExample } from './audience-documentation.ts';

export const listAudiencesDocumentation: OperationDocumentation = {
  summary: 'List audiences',
  description:
    'Newest first. With a user token those of its customer; without one those that the partner made for itself.',
  query: pageParameters,
  answer: { description: 'A page of audiences, without their files.', example: [audienceExample], isPaged: true },
  failures: invalidPage,
};
