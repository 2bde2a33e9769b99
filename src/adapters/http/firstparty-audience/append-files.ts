import { operations } from '@inlet/contract/operations';
import { appendAudienceFiles, type WriteAudienceDeps } from '../../../usecases/write-audiences.ts';
import { partnerOf } from '../authentication.ts';
import { scopeOf } from '../customer-scope.ts';
import type { Api } from '../server.ts';

const { path, params, body } = operations.appendFiles;

export function addAppendFiles(api: Api, deps: WriteAudienceDeps, at: (path: string) => string): void {
  api.patch(at(path), { schema: { params, body } }, async (request, reply) => {
    const caller = { partner: partnerOf(request), scope: scopeOf(request) };
    const audienceId = request.params.audience_id;
    await appendAudienceFiles(deps, caller, audienceId, request.body.file_path);
    request.log.info({ audienceId }, 'audience load accepted');
    return reply.code(204).send();
  });
}
