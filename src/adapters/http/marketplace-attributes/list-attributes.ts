import { attributeListSchema } from '@inlet/contract/attribute';
import type { AttributeStore } from '../../../ports/attribute-store.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';

/** What the partner may name in its files and deletes. */
export function addListAttributes(api: Api, deps: { attributes: AttributeStore }): void {
  api.get('/v1/marketplace/attributes', { schema: { response: { 200: attributeListSchema } } }, async (request) => {
    const attributes = await deps.attributes.list(partnerOf(request).id, { retired: true });
    return attributes.map(({ id, name, foreignKeys, isRetired }) => ({
      attribute_id: id,
      name,
      foreign_keys: [...foreignKeys],
      retired: isRetired,
    }));
  });
}
