import { operations } from '@inlet/contract/operations';
import { type StreamDeps, answerEvents } from '../answer-events.ts';
import { scopeOf } from '../authentication.ts';
import { aboutEvents, eventHeaders, eventsExample, nothingToFollow, tooManyStreams } from '../follow-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';
import {
  type OneAudienceDeps,
  audienceDetailsExample,
  audienceIdParameter,
  audienceNotFound,
  oneAudience,
} from './audience-record.ts';

export const followAudienceDocumentation: OperationDocumentation = {
  summary: 'Follow an audience',
  description: aboutEvents,
  params: audienceIdParameter,
  headers: eventHeaders,
  answer: { description: 'The stream.', events: eventsExample(audienceDetailsExample) },
  otherAnswers: nothingToFollow,
  failures: { ...audienceNotFound, ...tooManyStreams },
};

const { path, params } = operations.followAudience;

export function addFollowAudience(api: Api, deps: OneAudienceDeps & StreamDeps, at: (path: string) => string): void {
  // A stream has no headers without its events.
  api.get(at(path), { schema: { params }, exposeHeadRoute: false }, (request, reply) =>
    answerEvents(request, reply, oneAudience(deps, scopeOf(request), request.params.audience_id), deps),
  );
}
