import { z } from 'zod';
import { partnerInsidePrefix } from './policies.ts';
import { type AdminResponse, type CephAdmin, sendSigned } from './signed-request.ts';

export const keysSchema = z.array(z.object({ access_key: z.string(), secret_key: z.string() }));
export const userSchema = z.object({ keys: keysSchema });

const successStatuses = new Set([200, 201, 204]);

/** Each partner has its own user. */
export function storageUserOf(partnerName: string): string {
  return `partner-${partnerName}`;
}

/** Allows the user to access only the objects with this prefix. Without this policy, the user has access to none. */
export async function limitToPrefix(
  admin: CephAdmin,
  { uid, bucket, prefix }: { readonly uid: string; readonly bucket: string; readonly prefix: string },
): Promise<void> {
  const query = {
    Action: 'PutUserPolicy',
    Version: '2010-05-08',
    UserName: uid,
    PolicyName: 'prefix',
    PolicyDocument: JSON.stringify(partnerInsidePrefix(bucket, prefix)),
  };
  requireSuccess(await sendSigned(admin, { method: 'POST', path: '/', query }), `limit ${uid} to its prefix`);
}

/** Removes the user and its keys. Its objects belong to the owner of the bucket. Does nothing if the user is gone. */
export async function removeStorageUser(admin: CephAdmin, partnerName: string): Promise<void> {
  const uid = storageUserOf(partnerName);
  const response = await sendSigned(admin, { method: 'DELETE', path: '/admin/user', query: { uid, format: 'json' } });
  if (response.status !== 404) requireSuccess(response, `remove the storage user ${uid}`);
}

/** The response text may contain keys, so the error names only the status. */
export function requireSuccess(response: AdminResponse, what: string): void {
  if (!successStatuses.has(response.status))
    throw new Error(`Cannot ${what}: the storage returned HTTP ${response.status}.`);
}
