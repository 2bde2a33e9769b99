import { attributesOfKeys, resolveKeys } from '../domain/attribute.ts';
import type { KeyType } from '../domain/import-log.ts';
import type { Limits } from '../domain/limits.ts';
import type { Once } from '../domain/once.ts';
import type { Partner } from '../domain/partner.ts';
import type { ImportLogStore, NewDelete } from '../ports/import-log-store.ts';

export type QueueDeleteDeps = {
  readonly importLogs: ImportLogStore;
  readonly limits: Limits;
};

/** Accepts the deletion of all data of some attributes. Retired attributes can be deleted too: that is when one does. */
export async function queueDelete(
  deps: QueueDeleteDeps,
  partner: Partner,
  request: { readonly keyType: KeyType; readonly keys: readonly string[] },
  once: Once | null = null,
): Promise<number> {
  const attributeIdsIn: NewDelete['attributeIdsIn'] = (attributes) =>
    attributesOfKeys(request.keys, resolveKeys(attributes, request.keyType));
  return deps.importLogs.submitDelete(partner.id, { ...request, attributeIdsIn }, deps.limits.maxOpenJobs, once);
}
