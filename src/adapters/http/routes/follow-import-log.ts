import { operations } from '@inlet/contract/operations';
import { type StreamDeps, answerEvents } from '../answer-events.ts';
import { partnerOf } from '../authentication.ts';
import { aboutEvents, eventHeaders, eventsExample, nothingToFollow, tooManyStreams } from '../follow-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';
import {
  type OneImportLogDeps,
  importLogExample,
  importLogIdParameter,
  noSuchImport,
  oneImportLog,
} from './import-log-record.ts';

export const followImportLogDocumentation: OperationDocumentation = {
  summary: 'Follow an import',
  description: aboutEvents,
  params: importLogIdParameter,
  headers: eventHeaders,
  answer: { description: 'The stream.', events: eventsExample(importLogExample) },
  otherAnswers: nothingToFollow,
  failures: { ...noSuchImport, ...tooManyStreams },
};

const { path, params } = operations.followImportLog;

export function addFollowImportLog(api: Api, deps: OneImportLogDeps & StreamDeps): void {
  // A stream has no headers without its events.
  api.get(path, { schema: { params }, exposeHeadRoute: false }, (request, reply) =>
    answerEvents(request, reply, oneImportLog(deps, partnerOf(request), request.params.import_log_id), deps),
  );
}
