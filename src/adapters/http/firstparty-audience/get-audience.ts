import { operations } from '@inlet/contract/operations';
import type { AudienceStore } from '../../../ports/audience-store.ts';
import { getAudience } from '../../../usecases/read-audiences.ts';
import { scopeOf } from '../customer-scope.ts';
import type { Api } from '../server.ts';
import { audienceFileRecord, audienceRecord } from './audience-record.ts';

const { path, params, answer } = operations.getAudience;

export function addGetAudience(api: Api, deps: { audiences: AudienceStore }, at: (path: string) => string): void {
  api.get(at(path), { schema: { params, response: { 200: answer } } }, async (request) => {
    const { audience, files } = await getAudience(deps, scopeOf(request), request.params.audience_id);
    return { ...audienceRecord(audience), file: files.map(audienceFileRecord) };
  });
}
