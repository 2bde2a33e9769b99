import { z } from 'zod';
import type { HistoryPosition } from '../../../domain/audience-history.ts';
import type { AudienceStore } from '../../../ports/audience-store.ts';
import { listAudienceHistory as list } from '../../../usecases/follow/read-audiences.ts';
import { scopeOf } from '../authentication.ts';
import { audienceNotFound, invalidPage } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { pageOf, readCursor } from '../paging.ts';
import { historyExample, historyListSchema, historyRecord, maxHistoryShown } from '../records/audience-history.ts';
import { audienceParams, pageQuery } from '../schemas.ts';

const listName = 'audience history';

export const listAudienceHistory = defineRoute({
  id: 'listAudienceHistory',
  tag: 'audiences',
  method: 'GET',
  path: '/v2/firstparty/audience/:audience_id/history',
  scope: 'audience:read',
  summary: 'List the appends and clears of an audience',
  description:
    'Lists the appends and clears of an audience, newest first. For each append, shows the path, the time, the sender, and the result. For each clear, shows the time and the sender. The first append is the one that created the audience. Appends of cleared data are kept for 400 days by default, and clears for at least 30 days.',
  params: audienceParams,
  query: pageQuery(maxHistoryShown, 20),
  response: {
    status: 200,
    description: 'A page of the history.',
    schema: historyListSchema,
    example: historyExample,
    isPaged: true,
  },
  problems: { ...audienceNotFound, ...invalidPage(maxHistoryShown) },
  handler: (deps: { readonly audiences: AudienceStore }) => async (request, reply) => {
    const { limit, cursor } = request.query;
    const before = toPosition(readCursor(cursor, listName, 3));
    const items = await list(deps, scopeOf(request), request.params.audience_id, { before, limit: limit + 1 });
    return pageOf(request, reply, { list: listName, limit, items }, ({ position }) => position).map(historyRecord);
  },
});

const positionSchema = z.tuple([z.int32(), z.literal([0, 1]), z.int()]);

function toPosition(cursor: readonly number[]): HistoryPosition | null {
  return positionSchema.safeParse(cursor).data ?? null;
}
