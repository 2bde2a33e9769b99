import { operations } from '@inlet/contract/operations';
import { createAudience, type WriteAudienceDeps } from '../../../usecases/write-audiences.ts';
import { partnerOf } from '../authentication.ts';
import { scopeOf } from '../customer-scope.ts';
import { onceOf, type OnceDeps } from '../once-of.ts';
import type { Api } from '../server.ts';

const { path, body, answer } = operations.createAudience;

export function addCreateAudience(api: Api, deps: WriteAudienceDeps & OnceDeps, at: (path: string) => string): void {
  api.post(at(path), { schema: { body, response: { 201: answer } } }, async (request, reply) => {
    const { name, file_path: filePath } = request.body;
    const caller = { partner: partnerOf(request), scope: scopeOf(request) };
    const once = onceOf(deps, request, reply, caller.scope.customerId);
    const { audienceId, warehouseSegmentId } = await createAudience(deps, caller, { name, filePath }, once);
    request.log.info({ audienceId }, 'audience load accepted');
    reply.code(201).header('location', `${at(path)}/${audienceId}`);
    return { audience_id: audienceId, default_warehouse_segment_id: warehouseSegmentId };
  });
}
