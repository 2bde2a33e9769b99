import { z } from 'zod';
import type { AttributeStore } from '../../../ports/partner-store.ts';
import { partnerOf } from '../authentication.ts';
import { invalidPage } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { pageOf, readCursor } from '../paging.ts';
import { attributeRecord, attributeSchema } from '../records/attribute.ts';
import { pageQuery } from '../schemas.ts';

export const attributeListSchema = z.array(attributeSchema).max(1000);

export const listAttributes = defineRoute({
  id: 'listAttributes',
  tag: 'imports',
  method: 'GET',
  path: '/v1/marketplace/attributes',
  scope: 'marketplace:read',
  summary: 'List attributes',
  description:
    'Lists the attributes that you can use in files and deletes. Identify an attribute by its ID or by one of its foreign keys.',
  query: pageQuery(1000, 1000),
  response: {
    status: 200,
    description: 'A page of attributes, ordered by ID.',
    schema: attributeListSchema,
    example: [
      { attribute_id: 1001, name: 'sports', foreign_keys: ['sports'], retired: false },
      { attribute_id: 1002, name: 'travel', foreign_keys: ['travel', 'trips'], retired: true },
    ],
    isPaged: true,
  },
  problems: invalidPage(1000),
  handler: (deps: { readonly attributes: AttributeStore }) => async (request, reply) => {
    const { limit, cursor } = request.query;
    const [afterId = 0] = readCursor(cursor, 'attributes', 1);
    const page = { afterId, limit: limit + 1 };
    const items = await deps.attributes.list(partnerOf(request).id, { retired: true, page });
    const attributes = pageOf(request, reply, { list: 'attributes', limit, items }, ({ id }) => [id]);
    return attributes.map(attributeRecord);
  },
});
