import { operations } from '@inlet/contract/operations';
import { answerEvents, type StreamDeps } from '../answer-events.ts';
import { scopeOf } from '../customer-scope.ts';
import type { Api } from '../server.ts';
import { oneAudience, type OneAudienceDeps } from './one-audience.ts';

const { path, params } = operations.followAudience;

export function addFollowAudience(api: Api, deps: OneAudienceDeps & StreamDeps, at: (path: string) => string): void {
  // A stream has no headers without its events.
  api.get(at(path), { schema: { params }, exposeHeadRoute: false }, (request, reply) =>
    answerEvents(request, reply, oneAudience(deps, scopeOf(request), request.params.audience_id), deps),
  );
}
