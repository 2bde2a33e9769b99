import { operations } from '@inlet/contract/operations';
import type { AudienceStore } from '../../../ports/audience-store.ts';
import { listAudiences } from '../../../usecases/read-audiences.ts';
import { scopeOf } from '../customer-scope.ts';
import { linkNext, readCursor } from '../paging.ts';
import type { Api } from '../server.ts';
import { audienceRecord } from './audience-record.ts';

const { path, query, answer } = operations.listAudiences;

/** Decision 24: newest first, so a cursor is the id before which the next page begins. */
export function addListAudiences(api: Api, deps: { audiences: AudienceStore }, at: (path: string) => string): void {
  api.get(at(path), { schema: { querystring: query, response: { 200: answer } } }, async (request, reply) => {
    const { limit, cursor } = request.query;
    const [beforeId = Number.MAX_SAFE_INTEGER] = readCursor(cursor, 'audiences', 1);
    const audiences = await listAudiences(deps, scopeOf(request), { beforeId, limit });
    const last = audiences.at(-1);
    if (last && audiences.length === limit) linkNext(request, reply, limit, { list: 'audiences', place: [last.id] });
    return audiences.map(audienceRecord);
  });
}
