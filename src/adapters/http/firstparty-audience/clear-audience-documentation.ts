import type { OperationDocumentation } from '../operation-documentation.ts';
import { audienceId, noSuchAudience } from './audience-documentation.ts';

export const clearAudienceDocumentation: OperationDocumentation = {
  summary: 'Clear an audience',
  description:
    'Empties it at once, whatever its size, and cancels what is loading. What is appended after the call is loaded.',
  params: audienceId,
  bodies: { nothing: { summary: 'No fields; the body can be left out', value: {} } },
  answer: { description: 'The audience is empty.' },
  failures: {
    ...noSuchAudience,
    invalid_request: {
      detail: 'The request breaks a rule; see errors.',
      errors: [{ pointer: '', detail: 'Unrecognized key: "file_path"' }],
    },
  },
};
