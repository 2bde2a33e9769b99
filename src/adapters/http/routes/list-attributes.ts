import { operations } from '@inlet/contract/operations';
import type { AttributeStore } from '../../../ports/partner-store.ts';
import { partnerOf } from '../authentication.ts';
import { invalidPage, pageParameters } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { linkNext, readCursor } from '../paging.ts';
import type { Api } from '../api.ts';

export const listAttributesDocumentation: OperationDocumentation = {
  summary: 'List attributes',
  description:
    'What the partner may name in its files and deletes: each attribute by its id, or by one of the foreign keys that are tied to it.',
  query: pageParameters,
  answer: {
    description: 'A page of attributes, by their ids.',
    example: [
      { attribute_id: 1001, name: 'sports', foreign_keys: ['sports'], retired: false },
      { attribute_id: 1002, name: 'travel', foreign_keys: ['travel', 'trips'], retired: true },
    ],
    isPaged: true,
  },
  failures: invalidPage,
};

const { path, query, answer } = operations.listAttributes;

/** What the partner may name in its files and deletes. */
export function addListAttributes(api: Api, deps: { attributes: AttributeStore }): void {
  api.get(path, { schema: { querystring: query, response: { 200: answer } } }, async (request, reply) => {
    const { limit, cursor } = request.query;
    const [afterId = 0] = readCursor(cursor, 'attributes', 1);
    const attributes = await deps.attributes.list(partnerOf(request).id, { retired: true, page: { afterId, limit } });
    const last = attributes.at(-1);
    if (last && attributes.length === limit) linkNext(request, reply, limit, { list: 'attributes', place: [last.id] });
    return attributes.map(({ id, name, foreignKeys, isRetired }) => ({
      attribute_id: id,
      name,
      foreign_keys: [...foreignKeys],
      retired: isRetired,
    }));
  });
}
