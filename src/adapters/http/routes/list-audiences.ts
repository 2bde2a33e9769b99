import type { AudienceStore } from '../../../ports/audience-store.ts';
import type { CustomerStore } from '../../../ports/partner-store.ts';
import type { AsCaller } from '../../../ports/request-store.ts';
import { listAudiences as list } from '../../../usecases/follow/read-audiences.ts';
import { scopeOf } from '../authentication.ts';
import { invalidPage } from '../documentation.ts';
import { audienceListQuery } from '../list-filters.ts';
import { defineRoute } from '../operation.ts';
import { pageOf, readCursor } from '../paging.ts';
import { audienceExample, audienceListSchema, audienceRecord } from '../records/audience.ts';

type ListAudiencesDeps = {
  readonly audiences: AudienceStore;
  readonly customers: CustomerStore;
  readonly asCaller: AsCaller;
};

export const listAudiences = defineRoute({
  id: 'listAudiences',
  tag: 'audiences',
  method: 'GET',
  path: '/v2/firstparty/audience',
  scope: 'audience:read',
  summary: 'List audiences',
  description:
    "Lists audiences, newest first. With a user token, lists that customer's audiences. Without one, lists the partner's own audiences, or with `customer`, those of its customers.",
  query: audienceListQuery,
  response: {
    status: 200,
    description: 'A page of audiences, without their files.',
    schema: audienceListSchema,
    example: [audienceExample],
    isPaged: true,
  },
  problems: invalidPage(1000),
  handler: (deps: ListAudiencesDeps) => async (request, reply) => {
    const { limit, cursor, customer, status: statuses, name, created_from, created_to } = request.query;
    const [beforeId = Number.MAX_SAFE_INTEGER] = readCursor(cursor, 'audiences', 1);
    const filter = { statuses, name, createdFrom: created_from, createdTo: created_to };
    const items = await list(deps, scopeOf(request), { beforeId, limit: limit + 1, filter }, customer);
    return pageOf(request, reply, { list: 'audiences', limit, items }, ({ id }) => [id]).map(audienceRecord);
  },
});
