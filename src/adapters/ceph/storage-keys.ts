import { randomInt } from 'node:crypto';
import { prefixOfPartner } from '../../domain/partner.ts';
import { Secret } from '../../domain/secret.ts';
import type { StorageKeys } from '../../ports/object-store.ts';
import { type AdminResponse, type CephAdmin, sendSigned } from './signed-request.ts';
import { keysSchema, limitToPrefix, requireSuccess, storageUserOf, userSchema } from './storage-user.ts';

const path = '/admin/user';
const idLength = 20;
const idCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/**
 * Manages the access keys of a Ceph gateway user with the gateway's admin API. Adding or removing a key removes the policy
 * of the user (Ceph 16.2), so the policy is written again. The user has no access for these few milliseconds. After an
 * interruption, the user has no access until `create` or `remove` is called again, even for a key that does not exist.
 */
export function cephStorageKeys(admin: CephAdmin, bucket: string): StorageKeys {
  const restorePolicy = (partnerName: string): Promise<void> =>
    limitToPrefix(admin, { uid: storageUserOf(partnerName), bucket, prefix: prefixOfPartner(partnerName) });
  const list = async (uid: string): Promise<readonly string[] | null> => {
    const response = await sendSigned(admin, { method: 'GET', path, query: { uid, format: 'json' } });
    if (response.status === 404) return null;
    requireSuccess(response, `read the storage user ${uid}`);
    return userSchema.parse(JSON.parse(response.text)).keys.map(({ access_key }) => access_key);
  };
  return {
    list: (partnerName) => list(storageUserOf(partnerName)),
    newId: () => Array.from({ length: idLength }, () => idCharacters[randomInt(idCharacters.length)]).join(''),
    create: async (partnerName, accessKeyId) => {
      const uid = storageUserOf(partnerName);
      // The gateway generates the secret. A secret in the query would appear in its access log.
      const query = {
        key: '',
        uid,
        'key-type': 's3',
        'access-key': accessKeyId,
        'generate-key': 'true',
        format: 'json',
      };
      const response = await sendSigned(admin, { method: 'PUT', path, query });
      requireSuccess(response, `create an access key for the storage user ${uid}`);
      await restorePolicy(partnerName);
      const made = keysSchema.parse(JSON.parse(response.text)).find(({ access_key }) => access_key === accessKeyId);
      if (!made) throw new Error(`the storage created no access key for the user ${uid}`);
      return new Secret(made.secret_key);
    },
    remove: async (partnerName, accessKeyId) => {
      const uid = storageUserOf(partnerName);
      const query = { key: '', uid, 'key-type': 's3', 'access-key': accessKeyId, format: 'json' };
      const response: AdminResponse = await sendSigned(admin, { method: 'DELETE', path, query });
      // The gateway returns different errors for a missing key.
      const isGone = response.status >= 400 && !((await list(uid)) ?? []).includes(accessKeyId);
      if (!isGone) requireSuccess(response, `remove an access key of the storage user ${uid}`);
      await restorePolicy(partnerName);
    },
  };
}
