import type { Caller } from '../../domain/caller.ts';
import { type Erasure, toErasedIds } from '../../domain/erasure.ts';
import { Failure } from '../../domain/failure.ts';
import type { IdempotentRequest } from '../../domain/idempotency.ts';
import { actorOfCaller } from '../../domain/own-access.ts';
import type { Partner } from '../../domain/partner.ts';
import { keyInPrefix } from '../../domain/source-file.ts';
import type { ErasureStore, StoredProof } from '../../ports/erasure.ts';

type Deps = { readonly erasures: ErasureStore };
type IdSource = { readonly ids: readonly string[] } | { readonly filePath: string };

/** Queues the erasure of devices from the partner's data. */
export async function requestDeletion(
  { erasures }: Deps,
  caller: Caller,
  list: IdSource,
  idempotency: IdempotentRequest | null,
): Promise<number> {
  const requestedBy = actorOfCaller(caller);
  if ('filePath' in list) {
    const objectKey = keyInPrefix(caller.partner.prefix, list.filePath);
    return erasures.request(caller.partner.id, { requestedBy, source: { objectKey } }, idempotency);
  }
  const source = { ids: toErasedIds(list.ids) };
  return erasures.request(caller.partner.id, { requestedBy, source }, idempotency);
}

export async function getDeletion({ erasures }: Deps, partner: Partner, id: number): Promise<Erasure> {
  const found = await erasures.find(partner.id, id);
  if (!found) throw noSuchDeletion(id);
  return found;
}

export async function getDeletionProof({ erasures }: Deps, partner: Partner, id: number): Promise<StoredProof> {
  const found = await erasures.find(partner.id, id);
  if (!found) throw noSuchDeletion(id);
  const proof = await erasures.findProof(partner.id, id);
  if (!proof) throw new Failure('not_found', `Deletion ${id} has no proof yet.`);
  return proof;
}

function noSuchDeletion(id: number): Failure {
  return new Failure('not_found', `Deletion ${id} does not exist.`);
}
