import { Failure } from '../../domain/failure.ts';
import type { Partner } from '../../domain/partner.ts';
import { type StorageKey, requireRoomForStorageKey } from '../../domain/own-access.ts';
import type { Secret } from '../../domain/secret.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { StorageKeys } from '../../ports/object-store.ts';
import type { Log } from '../../ports/observability.ts';
import type { OwnChange, OwnStorageKeys } from '../../ports/own-access.ts';

export type StorageKeyDeps = {
  readonly ownStorageKeys: OwnStorageKeys;
  /** Null if this process cannot manage the storage. */
  readonly storageKeys: StorageKeys | null;
};

/** Lists the access keys of the partner's storage user. */
export async function listStorageKeys(deps: StorageKeyDeps, partner: Partner): Promise<readonly StorageKey[]> {
  const ids = requireUser(await requireStorage(deps).list(partner.name));
  const recorded = await deps.ownStorageKeys.list(partner.id);
  return ids.map(
    (id) =>
      recorded.find(({ accessKeyId }) => accessKeyId === id) ?? {
        accessKeyId: id,
        createdAt: null,
        createdBy: null,
        expiresAt: null,
      },
  );
}

/**
 * Adds an access key, and lets all others expire after the overlap. The first of the returned keys is the new one. Its
 * secret is null if the request is a repetition, because the secret is not stored.
 *
 * The expiry of the other keys is committed first, so that a key that someone else knows ends even if no key can be
 * created. The new key is recorded before it exists. If its creation is interrupted, workers remove it like an expired
 * key, which also restores the user's access.
 */
export async function rotateStorageKeys(
  deps: StorageKeyDeps,
  change: OwnChange,
  overlapHours: number,
): Promise<{ readonly keys: readonly StorageKey[]; readonly secret: Secret | null }> {
  const storage = requireStorage(deps);
  const { name } = change.caller.partner;
  const rotation = { accessKeyId: storage.newId(), overlapSeconds: overlapHours * 3_600 };
  const list = async (): Promise<readonly string[]> => requireUser(await storage.list(name));
  const repeated = await deps.ownStorageKeys.prepareRotation(change, rotation, list);
  if (repeated) return { keys: repeated, secret: null };
  let secret: Secret | null = null;
  const keys = await deps.ownStorageKeys.rotate(change, rotation, async (expiredIds) => {
    const otherIds = await list();
    for (const id of otherIds.filter((other) => expiredIds.includes(other))) await storage.remove(name, id);
    requireRoomForStorageKey(otherIds.filter((other) => !expiredIds.includes(other)));
    secret = await storage.create(name, rotation.accessKeyId);
    return otherIds;
  });
  return { keys, secret };
}

/**
 * Revokes an access key. Its expiry is committed first, so that workers remove the key if the removal is interrupted or
 * fails. The last key can be revoked, because a rotation creates another one.
 */
export async function revokeStorageKey(deps: StorageKeyDeps, change: OwnChange, accessKeyId: string): Promise<void> {
  const storage = requireStorage(deps);
  const { name } = change.caller.partner;
  await deps.ownStorageKeys.prepareRevocation(change, accessKeyId, async () => requireUser(await storage.list(name)));
  await deps.ownStorageKeys.revoke(change, () => storage.remove(name, accessKeyId));
}

function requireStorage({ storageKeys }: StorageKeyDeps): StorageKeys {
  if (storageKeys) return storageKeys;
  throw new Failure('storage_keys_not_available', 'The API has no storage administrator credentials.');
}

function requireUser(accessKeyIds: readonly string[] | null): readonly string[] {
  if (accessKeyIds) return accessKeyIds;
  throw new Failure('storage_keys_not_available', 'The operator manages the storage credentials of this partner.');
}

export const removeStorageKeysEverySeconds = 10;
const removedAtATime = 100;

/** Removes expired access keys from the storage. Repeating the removal after an interruption does no harm. */
export async function removeExpiredStorageKeys(
  deps: StorageKeyDeps & { readonly lanes: Pick<LaneStore, 'claimTurn'>; readonly log: Log },
): Promise<void> {
  if (!(await deps.lanes.claimTurn('remove storage keys', removeStorageKeysEverySeconds))) return;
  const expired = await deps.ownStorageKeys.listExpired(removedAtATime);
  if (expired.length === 0) return;
  const storage = deps.storageKeys;
  if (!storage) {
    deps.log.warn(
      { keys: expired.length },
      'expired storage keys still work: set INLET_STORAGE_ADMIN_* for the workers',
    );
    return;
  }
  for (const key of expired) {
    const { partnerName, accessKeyId } = key;
    try {
      await deps.ownStorageKeys.removeExpired(key, () => storage.remove(partnerName, accessKeyId));
    } catch (error) {
      // One partner's missing storage user must not keep the expired keys of others working.
      deps.log.error({ err: error, partner: partnerName }, 'an expired storage key still works: it cannot be removed');
    }
  }
}
