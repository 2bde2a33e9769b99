import { operations } from '@inlet/contract/operations';
import { answerRecord } from '../answer-record.ts';
import { scopeOf } from '../customer-scope.ts';
import type { Api } from '../server.ts';
import { oneAudience, type OneAudienceDeps } from './one-audience.ts';

const { path, params, answer } = operations.getAudience;

export function addGetAudience(api: Api, deps: OneAudienceDeps, at: (path: string) => string): void {
  api.get(at(path), { schema: { params, response: { 200: answer } } }, (request, reply) =>
    answerRecord(request, reply, oneAudience(deps, scopeOf(request), request.params.audience_id)),
  );
}
