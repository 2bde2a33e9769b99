import { operations } from '@inlet/contract/operations';
import { answerEvents, type StreamDeps } from '../answer-events.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';
import { oneImportLog, type OneImportLogDeps } from './one-import-log.ts';

const { path, params } = operations.followImportLog;

export function addFollowImportLog(api: Api, deps: OneImportLogDeps & StreamDeps): void {
  // A stream has no headers without its events.
  api.get(path, { schema: { params }, exposeHeadRoute: false }, (request, reply) =>
    answerEvents(request, reply, oneImportLog(deps, partnerOf(request), request.params.import_log_id), deps),
  );
}
