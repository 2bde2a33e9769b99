import { operations } from '@inlet/contract/operations';
import { appendAudienceFiles, type WriteAudienceDeps } from '../../../usecases/write-audiences.ts';
import { partnerOf } from '../authentication.ts';
import { scopeOf } from '../customer-scope.ts';
import { onceOf, type OnceDeps } from '../once-of.ts';
import type { Api } from '../server.ts';

const { path, params, body } = operations.appendFiles;

export function addAppendFiles(api: Api, deps: WriteAudienceDeps & OnceDeps, at: (path: string) => string): void {
  api.patch(at(path), { schema: { params, body } }, async (request, reply) => {
    const caller = { partner: partnerOf(request), scope: scopeOf(request) };
    const audienceId = request.params.audience_id;
    const once = onceOf(deps, request, reply, caller.scope.customerId);
    await appendAudienceFiles(deps, caller, audienceId, request.body.file_path, once);
    request.log.info({ audienceId }, 'audience load accepted');
    return reply.code(204).send();
  });
}
