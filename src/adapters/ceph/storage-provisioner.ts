import { CreateBucketCommand, GetBucketAclCommand, PutBucketPolicyCommand, type S3Client } from '@aws-sdk/client-s3';
import { Secret } from '../../domain/secret.ts';
import type { StorageGrant, StorageProvisioner } from '../../ports/object-store.ts';
import { ownerReadsAll } from './policies.ts';
import { type CephAdmin, sendSigned } from './signed-request.ts';
import { limitToPrefix, requireSuccess, storageUserOf, userSchema } from './storage-user.ts';

/**
 * Creates a Ceph gateway user with a separate policy for each partner. A single bucket policy for a thousand partners
 * would be evaluated on every request, and concurrent provisioning would overwrite it. AWS IAM also provides
 * `PutUserPolicy`.
 */
export function cephStorageProvisioner(admin: CephAdmin, owner: S3Client, bucket: string): StorageProvisioner {
  return {
    provision: async ({ name, prefix }): Promise<StorageGrant> => {
      await prepareBucket(owner, bucket);
      const uid = storageUserOf(name);
      const { access_key, secret_key } = await ensureUser(admin, uid);
      await limitToPrefix(admin, { uid, bucket, prefix });
      return { bucket, prefix, accessKeyId: access_key, secretAccessKey: new Secret(secret_key) };
    },
  };
}

/**
 * Creates the bucket and allows its owner to read all objects. Without this policy, only the partner that wrote an
 * object could read it.
 */
async function prepareBucket(owner: S3Client, bucket: string): Promise<void> {
  await owner.send(new CreateBucketCommand({ Bucket: bucket }));
  const { Owner: bucketOwner } = await owner.send(new GetBucketAclCommand({ Bucket: bucket }));
  const policy = JSON.stringify(ownerReadsAll(bucket, bucketOwner?.ID ?? ''));
  await owner.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: policy }));
}

/** Creates a user that cannot create buckets, or reads the existing user. */
async function ensureUser(admin: CephAdmin, uid: string): Promise<{ access_key: string; secret_key: string }> {
  const path = '/admin/user';
  const query = { uid, 'display-name': uid, 'max-buckets': '-1', format: 'json' };
  let response = await sendSigned(admin, { method: 'PUT', path, query });
  if (response.status === 409)
    response = await sendSigned(admin, { method: 'GET', path, query: { uid, format: 'json' } });
  requireSuccess(response, `create the storage user ${uid}`);
  const [key] = userSchema.parse(JSON.parse(response.text)).keys;
  if (!key) throw new Error(`the storage user ${uid} has no key`);
  return key;
}
