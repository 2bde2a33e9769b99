import { scopeOf } from '../authentication.ts';
import {
  audienceNotFound,
  eventStreamDescription,
  eventStreamExample,
  eventStreamHeaders,
  noMoreEvents,
  tooManyStreams,
} from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { audienceDetailsExample, audienceDetailsSchema } from '../records/audience.ts';
import { audienceParams } from '../schemas.ts';
import { type StreamDeps, streamEvents } from '../server-sent-events.ts';
import { type AudienceDeps, audienceQuery, audienceResource, invalidIncludeFiles } from './get-audience.ts';

export const followAudience = defineRoute({
  id: 'followAudience',
  tag: 'audiences',
  method: 'GET',
  path: '/v2/firstparty/audience/:audience_id/events',
  scope: 'audience:read',
  summary: 'Stream the status of an audience',
  description: eventStreamDescription,
  params: audienceParams,
  query: audienceQuery,
  headers: eventStreamHeaders,
  response: {
    status: 200,
    description: 'The event stream.',
    schema: audienceDetailsSchema,
    events: eventStreamExample(audienceDetailsExample),
  },
  otherResponses: noMoreEvents,
  problems: { ...audienceNotFound, ...invalidIncludeFiles, ...tooManyStreams },
  options: { exposeHeadRoute: false },
  handler: (deps: AudienceDeps & StreamDeps) => (request, reply) =>
    streamEvents(
      request,
      reply,
      audienceResource(deps, scopeOf(request), request.params.audience_id, request.query),
      deps,
    ),
});
