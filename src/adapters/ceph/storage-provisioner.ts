import { CreateBucketCommand, GetBucketAclCommand, PutBucketPolicyCommand, type S3Client } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { Secret } from '../../domain/secret.ts';
import type { StorageGrant, StorageProvisioner } from '../../ports/object-store.ts';
import { ownerReadsAll, partnerInsidePrefix } from './policies.ts';
import { type AdminAnswer, type CephAdmin, sendSigned } from './signed-request.ts';

const userSchema = z.object({ keys: z.array(z.object({ access_key: z.string(), secret_key: z.string() })).min(1) });
const accepted = new Set([200, 201, 204]);

/**
 * Partners as users of a Ceph gateway. Each partner has a user with a policy of its own: the rights of a thousand
 * partners in one bucket policy would be read with every request, and two provisionings at once would overwrite each
 * other. `PutUserPolicy` is also how AWS IAM does it.
 */
export function cephStorageProvisioner(admin: CephAdmin, owner: S3Client, bucket: string): StorageProvisioner {
  return {
    provision: async ({ name, prefix }): Promise<StorageGrant> => {
      await prepareBucket(owner, bucket);
      const uid = `partner-${name}`;
      const { access_key, secret_key } = await ensureUser(admin, uid);
      const policy = JSON.stringify(partnerInsidePrefix(bucket, prefix));
      const query = {
        Action: 'PutUserPolicy',
        Version: '2010-05-08',
        UserName: uid,
        PolicyName: 'prefix',
        PolicyDocument: policy,
      };
      requireAccepted(await sendSigned(admin, { method: 'POST', path: '/', query }), `limit ${uid} to its prefix`);
      return { bucket, prefix, accessKeyId: access_key, secretAccessKey: new Secret(secret_key) };
    },
  };
}

/** The bucket, and the right of its owner to read what partners write (an object belongs to its writer). */
async function prepareBucket(owner: S3Client, bucket: string): Promise<void> {
  await owner.send(new CreateBucketCommand({ Bucket: bucket }));
  const { Owner: bucketOwner } = await owner.send(new GetBucketAclCommand({ Bucket: bucket }));
  const policy = JSON.stringify(ownerReadsAll(bucket, bucketOwner?.ID ?? ''));
  await owner.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: policy }));
}

/** Makes the user without the right to make buckets, or finds it. */
async function ensureUser(admin: CephAdmin, uid: string): Promise<{ access_key: string; secret_key: string }> {
  const path = '/admin/user';
  const query = { uid, 'display-name': uid, 'max-buckets': '-1', format: 'json' };
  let answer = await sendSigned(admin, { method: 'PUT', path, query });
  if (answer.status === 409) answer = await sendSigned(admin, { method: 'GET', path, query: { uid, format: 'json' } });
  requireAccepted(answer, `create the storage user ${uid}`);
  const [key] = userSchema.parse(JSON.parse(answer.text)).keys;
  if (!key) throw new Error(`the storage user ${uid} has no key`);
  return key;
}

/** The text of an answer may hold keys, so only its status is told. */
function requireAccepted(answer: AdminAnswer, what: string): void {
  if (!accepted.has(answer.status)) throw new Error(`The storage refused to ${what}: HTTP ${answer.status}.`);
}
