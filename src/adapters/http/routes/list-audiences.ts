import { operations } from '@inlet/contract/operations';
import type { AudienceStore } from '../../../ports/audience-store.ts';
import { listAudiences } from '../../../usecases/follow/read-audiences.ts';
import { scopeOf } from '../authentication.ts';
import { invalidPage, pageParameters } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { linkNext, readCursor } from '../paging.ts';
import type { Api } from '../api.ts';
import { audienceExample, audienceRecord } from './audience-record.ts';

export const listAudiencesDocumentation: OperationDocumentation = {
  summary: 'List audiences',
  description:
    'Newest first. With a user token those of its customer; without one those that the partner made for itself.',
  query: pageParameters,
  answer: { description: 'A page of audiences, without their files.', example: [audienceExample], isPaged: true },
  failures: invalidPage,
};

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
