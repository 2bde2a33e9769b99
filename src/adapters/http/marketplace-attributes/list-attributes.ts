import { operations } from '@inlet/contract/operations';
import type { AttributeStore } from '../../../ports/attribute-store.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';

const { path, answer } = operations.listAttributes;

/** What the partner may name in its files and deletes. */
export function addListAttributes(api: Api, deps: { attributes: AttributeStore }): void {
  api.get(path, { schema: { response: { 200: answer } } }, async (request) => {
    const attributes = await deps.attributes.list(partnerOf(request).id, { retired: true });
    return attributes.map(({ id, name, foreignKeys, isRetired }) => ({
      attribute_id: id,
      name,
      foreign_keys: [...foreignKeys],
      retired: isRetired,
    }));
  });
}
