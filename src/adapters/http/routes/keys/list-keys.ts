import { z } from 'zod';
import type { ApiKeyStore } from '../../../../ports/partner-store.ts';
import { callerOf, partnerOf } from '../../authentication.ts';
import { invalidPage } from '../../documentation.ts';
import { defineRoute } from '../../operation.ts';
import { pageOf, readCursor } from '../../paging.ts';
import { apiKeyExample, apiKeyRecord, apiKeySchema } from '../../records/api-key.ts';
import { pageQuery } from '../../schemas.ts';

export const listKeys = defineRoute({
  id: 'listKeys',
  tag: 'keys',
  method: 'GET',
  path: '/v1/keys',
  scope: 'keys:read',
  summary: 'List API keys',
  description: 'Lists your API keys without their secret values. Revoked and expired keys are listed for 90 days.',
  query: pageQuery(100, 100),
  response: {
    status: 200,
    description: 'A page of API keys, ordered by ID.',
    schema: z.array(apiKeySchema).max(100),
    example: [apiKeyExample],
    isPaged: true,
  },
  problems: invalidPage(100),
  handler: (deps: { readonly keys: Pick<ApiKeyStore, 'list'> }) => async (request, reply) => {
    const { limit, cursor } = request.query;
    const [afterId = 0] = readCursor(cursor, 'keys', 1);
    const items = await deps.keys.list(partnerOf(request).id, { afterId, limit: limit + 1 });
    const page = pageOf(request, reply, { list: 'keys', limit, items }, ({ id }) => [id]);
    return page.map((key) => apiKeyRecord(key, callerOf(request)));
  },
});
