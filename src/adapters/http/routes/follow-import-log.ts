import { partnerOf } from '../authentication.ts';
import {
  eventStreamDescription,
  eventStreamExample,
  eventStreamHeaders,
  importLogNotFound,
  noMoreEvents,
  tooManyStreams,
} from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { importLogExample, importLogSchema } from '../records/import-log.ts';
import { importLogParams } from '../schemas.ts';
import { type StreamDeps, streamEvents } from '../server-sent-events.ts';
import { type ImportLogDeps, importLogResource } from './get-import-log.ts';

export const followImportLog = defineRoute({
  id: 'followImportLog',
  tag: 'imports',
  method: 'GET',
  path: '/v1/marketplace/import/:import_log_id/events',
  scope: 'marketplace:read',
  summary: 'Stream the progress of an import',
  description: eventStreamDescription,
  params: importLogParams,
  headers: eventStreamHeaders,
  response: {
    status: 200,
    description: 'The event stream.',
    schema: importLogSchema,
    events: eventStreamExample(importLogExample),
  },
  otherResponses: noMoreEvents,
  problems: { ...importLogNotFound, ...tooManyStreams },
  options: { exposeHeadRoute: false },
  handler: (deps: ImportLogDeps & StreamDeps) => (request, reply) =>
    streamEvents(request, reply, importLogResource(deps, partnerOf(request), request.params.import_log_id), deps),
});
