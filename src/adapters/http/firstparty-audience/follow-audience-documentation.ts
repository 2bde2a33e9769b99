import { aboutEvents, eventHeaders, eventsExample, nothingToFollow, tooManyStreams } from '../follow-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { audienceDetailsExample, audienceId, noSuchAudience } from './audience-documentation.ts';

export const followAudienceDocumentation: OperationDocumentation = {
  summary: 'Follow an audience',
  description: aboutEvents,
  params: audienceId,
  headers: eventHeaders,
  answer: { description: 'The stream.', events: eventsExample(audienceDetailsExample) },
  otherAnswers: nothingToFollow,
  failures: { ...noSuchAudience, ...tooManyStreams },
};
