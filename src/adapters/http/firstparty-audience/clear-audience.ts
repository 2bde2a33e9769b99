import { operations } from '@inlet/contract/operations';
import { clearAudience, type WriteAudienceDeps } from '../../../usecases/write-audiences.ts';
import { scopeOf } from '../customer-scope.ts';
import { onceOf, type OnceDeps } from '../once-of.ts';
import type { Api } from '../server.ts';

const { path, params, body } = operations.clearAudience;

export function addClearAudience(api: Api, deps: WriteAudienceDeps & OnceDeps, at: (path: string) => string): void {
  api.put(at(path), { schema: { params, body } }, async (request, reply) => {
    const scope = scopeOf(request);
    const once = onceOf(deps, request, reply, scope.customerId);
    await clearAudience(deps, scope, request.params.audience_id, once);
    return reply.code(204).send();
  });
}
