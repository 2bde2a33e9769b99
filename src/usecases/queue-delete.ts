import { attributesOfKeys, resolveKeys } from '../domain/attribute.ts';
import type { KeyType } from '../domain/import-log.ts';
import type { Limits } from '../domain/limits.ts';
import type { Once } from '../domain/once.ts';
import type { Partner } from '../domain/partner.ts';
import type { AttributeStore } from '../ports/attribute-store.ts';
import type { ImportLogStore } from '../ports/import-log-store.ts';

export type QueueDeleteDeps = {
  readonly importLogs: ImportLogStore;
  readonly attributes: AttributeStore;
  readonly limits: Limits;
};

/** Accepts the deletion of all data of some attributes. Retired attributes can be deleted too: that is when one does. */
export async function queueDelete(
  deps: QueueDeleteDeps,
  partner: Partner,
  request: { readonly keyType: KeyType; readonly keys: readonly string[] },
  once: Once | null = null,
): Promise<number> {
  const attributes = await deps.attributes.list(partner.id, { retired: true });
  const attributeIds = attributesOfKeys(request.keys, resolveKeys(attributes, request.keyType));
  return deps.importLogs.submitDelete(partner.id, { ...request, attributeIds }, deps.limits.maxOpenJobs, once);
}
