import { operations } from '@inlet/contract/operations';
import { clearAudience, type WriteAudienceDeps } from '../../../usecases/write-audiences.ts';
import { scopeOf } from '../customer-scope.ts';
import type { Api } from '../server.ts';

const { path, params, body } = operations.clearAudience;

export function addClearAudience(api: Api, deps: WriteAudienceDeps, at: (path: string) => string): void {
  api.put(at(path), { schema: { params, body } }, async (request, reply) => {
    await clearAudience(deps, scopeOf(request), request.params.audience_id);
    return reply.code(204).send();
  });
}
