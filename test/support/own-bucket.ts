import { CreateBucketCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { sendSigned } from '../../src/adapters/ceph/signed-request.ts';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { rememberSecrets } from './known-secrets.ts';

export type OwnBucket = {
  readonly bucket: string;
  readonly credentials: { accessKeyId: string; secretAccessKey: string; region: string };
  readonly s3: S3Client;
  readonly upload: (key: string, body: Uint8Array | string) => Promise<void>;
};

const userSchema = z.object({ keys: z.array(z.object({ access_key: z.string(), secret_key: z.string() })).min(1) });

let shared: Promise<OwnBucket> | undefined;

/** The bucket is created on first use and shared by all callers. */
export function sharedOwnBucket(): Promise<OwnBucket> {
  shared ??= createOwnBucket();
  return shared;
}

/** Creates a separate storage user with its own bucket, which represents a partner-owned bucket. */
export async function createOwnBucket(): Promise<OwnBucket> {
  const { s3: storage } = readAddresses();
  const uid = `owner-${randomBytes(6).toString('hex')}`;
  const admin = {
    endpoint: storage.endpoint,
    region: storage.region,
    accessKeyId: storage.adminAccessKeyId,
    secretAccessKey: new Secret(storage.adminSecretAccessKey),
  };
  const query = { uid, 'display-name': uid, format: 'json' };
  const answer = await sendSigned(admin, { method: 'PUT', path: '/admin/user', query });
  const [key] = userSchema.parse(JSON.parse(answer.text)).keys;
  if (!key) throw new Error('the storage returned no key');
  rememberSecrets(key.secret_key, key.access_key);
  const secretAccessKey = new Secret(key.secret_key);
  const s3 = connectS3({
    endpoint: storage.endpoint,
    region: storage.region,
    accessKeyId: key.access_key,
    secretAccessKey,
  });
  await s3.send(new CreateBucketCommand({ Bucket: uid }));
  return {
    bucket: uid,
    credentials: { accessKeyId: key.access_key, secretAccessKey: key.secret_key, region: storage.region },
    s3,
    upload: async (path, body) => {
      await s3.send(new PutObjectCommand({ Bucket: uid, Key: path, Body: body }));
    },
  };
}
