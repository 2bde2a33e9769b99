import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketPolicyCommand,
  DeleteObjectCommand,
  GetBucketAclCommand,
  GetBucketPolicyCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cephStorageProvisioner } from '../../src/adapters/ceph/storage-provisioner.ts';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { StorageGrant } from '../../src/ports/object-store.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { testBucket } from '../support/environment.ts';
import { rememberSecrets } from '../support/known-secrets.ts';

const { s3: addresses } = readAddresses();
const { endpoint, region } = addresses;
const connect = (accessKeyId: string, secretAccessKey: Secret): S3Client =>
  connectS3({ endpoint, region, accessKeyId, secretAccessKey });

const owner = connect(addresses.providerAccessKeyId, new Secret(addresses.providerSecretAccessKey));
const admin = {
  endpoint,
  region,
  accessKeyId: addresses.adminAccessKeyId,
  secretAccessKey: new Secret(addresses.adminSecretAccessKey),
};
const storage = cephStorageProvisioner(admin, owner, testBucket);

// One name is a prefix of the other, so that a policy for "name*" instead of "name/*" would fail the tests.
const name = `sp-${process.pid}-${Date.now().toString(36)}`;
const sibling = `${name}2`;
const prefix = `${name}/`;

async function provision(user: string): Promise<{ grant: StorageGrant; s3: S3Client }> {
  const grant = await storage.provision({ name: user, prefix: `${user}/` });
  rememberSecrets(grant.secretAccessKey.reveal());
  return { grant, s3: connect(grant.accessKeyId, grant.secretAccessKey) };
}

/** Returns "allowed" or the HTTP status of the rejection. */
async function outcomeOf(request: Promise<unknown>): Promise<number | 'allowed'> {
  try {
    await request;
    return 'allowed';
  } catch (error) {
    const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
    if (status === undefined) throw error;
    return status;
  }
}

describe("a partner's storage", () => {
  let grant: StorageGrant;
  let partner: S3Client;
  let other: S3Client;
  const at = (Key: string): { Bucket: string; Key: string } => ({ Bucket: testBucket, Key });

  beforeAll(async () => {
    ({ grant, s3: partner } = await provision(name));
    ({ s3: other } = await provision(sibling));
    await other.send(new PutObjectCommand({ ...at(`${sibling}/secret.csv`), Body: 'not yours' }));
    await owner.send(new PutObjectCommand({ ...at(`at-the-root-${name}`), Body: 'not yours' }));
  });
  afterAll(async () => {
    await owner.send(new DeleteObjectCommand(at(`at-the-root-${name}`)));
    for (const client of [partner, other, owner]) client.destroy();
  });

  it('provisions a prefix in the shared bucket', () => {
    expect(grant).toMatchObject({ bucket: testBucket, prefix });
  });

  it('allows the partner to write, read, list, and delete objects', async () => {
    await partner.send(new PutObjectCommand({ ...at(`${prefix}day/a.csv`), Body: 'mine' }));
    const read = await partner.send(new GetObjectCommand(at(`${prefix}day/a.csv`)));
    expect(await read.Body?.transformToString()).toBe('mine');
    expect(await outcomeOf(partner.send(new HeadObjectCommand(at(`${prefix}day/a.csv`))))).toBe('allowed');
    const listed = await partner.send(new ListObjectsV2Command({ Bucket: testBucket, Prefix: prefix }));
    expect(listed.Contents?.map(({ Key }) => Key)).toEqual([`${prefix}day/a.csv`]);
    const below = await partner.send(new ListObjectsV2Command({ Bucket: testBucket, Prefix: `${prefix}day/` }));
    expect(below.KeyCount).toBe(1);
    await partner.send(new DeleteObjectCommand(at(`${prefix}day/a.csv`)));
    const after = await partner.send(new ListObjectsV2Command({ Bucket: testBucket, Prefix: prefix }));
    expect(after.KeyCount).toBe(0);
  });

  it('allows the partner to complete and abort multipart uploads', async () => {
    const where = at(`${prefix}parts.csv`);
    const { UploadId } = await partner.send(new CreateMultipartUploadCommand(where));
    const bodies = [Buffer.alloc(5 * 1024 * 1024, 'a'), Buffer.from('end')];
    const Parts = await Promise.all(
      bodies.map(async (Body, index) => {
        const PartNumber = index + 1;
        const { ETag } = await partner.send(new UploadPartCommand({ ...where, UploadId, PartNumber, Body }));
        return { ETag, PartNumber };
      }),
    );
    await partner.send(new CompleteMultipartUploadCommand({ ...where, UploadId, MultipartUpload: { Parts } }));
    const { ContentLength } = await partner.send(new HeadObjectCommand(where));
    expect(ContentLength).toBe(5 * 1024 * 1024 + 3);
    const { UploadId: givenUp } = await partner.send(new CreateMultipartUploadCommand(where));
    expect(await outcomeOf(partner.send(new AbortMultipartUploadCommand({ ...where, UploadId: givenUp })))).toBe(
      'allowed',
    );
    await partner.send(new DeleteObjectCommand(where));
  });

  it('allows the bucket owner to read everything that the partner wrote', async () => {
    await partner.send(new PutObjectCommand({ ...at(`${prefix}for-inlet.csv`), Body: 'hello' }));
    await partner.send(new PutObjectCommand({ ...at(`${prefix}private.csv`), Body: 'hello', ACL: 'private' }));
    for (const file of ['for-inlet.csv', 'private.csv']) {
      const read = await owner.send(new GetObjectCommand(at(prefix + file)));
      expect(await read.Body?.transformToString()).toBe('hello');
    }
    const listed = await owner.send(new ListObjectsV2Command({ Bucket: testBucket, Prefix: prefix }));
    expect(listed.KeyCount).toBe(2);
  });

  // `acme2/` starts with `acme`, so a careless pattern would grant access to the sibling's prefix.
  it.each([`${sibling}/secret.csv`, `at-the-root-${name}`, name, `${sibling}/new.csv`, `${name}-x/new.csv`])(
    'denies the partner access to %s',
    async (key) => {
      expect(await outcomeOf(partner.send(new GetObjectCommand(at(key))))).toBe(403);
      expect(await outcomeOf(partner.send(new HeadObjectCommand(at(key))))).toBe(403);
      expect(await outcomeOf(partner.send(new PutObjectCommand({ ...at(key), Body: 'x' })))).toBe(403);
      expect(await outcomeOf(partner.send(new DeleteObjectCommand(at(key))))).toBe(403);
      expect(await outcomeOf(partner.send(new CreateMultipartUploadCommand(at(key))))).toBe(403);
    },
  );

  it("denies copies from or to another partner's prefix", async () => {
    await partner.send(new PutObjectCommand({ ...at(`${prefix}mine.csv`), Body: 'mine' }));
    const steal = { ...at(`${prefix}stolen.csv`), CopySource: `${testBucket}/${sibling}/secret.csv` };
    const plant = { ...at(`${sibling}/planted.csv`), CopySource: `${testBucket}/${prefix}mine.csv` };
    expect(await outcomeOf(partner.send(new CopyObjectCommand(steal)))).toBe(403);
    expect(await outcomeOf(partner.send(new CopyObjectCommand(plant)))).toBe(403);
  });

  it.each([undefined, '', name, sibling, `${sibling}/`, 'a'])(
    'does not let the partner list the prefix %j',
    async (begin) => {
      const list = new ListObjectsV2Command({ Bucket: testBucket, ...(begin === undefined ? {} : { Prefix: begin }) });
      expect(await outcomeOf(partner.send(list))).toBe(403);
    },
  );

  it('grants no permissions on the bucket', async () => {
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [] });
    expect(await outcomeOf(partner.send(new GetBucketPolicyCommand({ Bucket: testBucket })))).toBe(403);
    expect(await outcomeOf(partner.send(new PutBucketPolicyCommand({ Bucket: testBucket, Policy })))).toBe(403);
    expect(await outcomeOf(partner.send(new DeleteBucketPolicyCommand({ Bucket: testBucket })))).toBe(403);
    expect(await outcomeOf(partner.send(new GetBucketAclCommand({ Bucket: testBucket })))).toBe(403);
  });

  it('grants no permission to create or list buckets', async () => {
    expect(await outcomeOf(partner.send(new CreateBucketCommand({ Bucket: `${name}-bucket` })))).toBe(403);
    const { Buckets: shown = [] } = await partner.send(new ListBucketsCommand({}));
    expect(shown).toEqual([]);
  });

  it('returns the same working credentials when it provisions a partner again', async () => {
    const { grant: again, s3 } = await provision(name);
    expect(again.accessKeyId).toBe(grant.accessKeyId);
    expect(again.secretAccessKey.reveal()).toBe(grant.secretAccessKey.reveal());
    expect(await outcomeOf(s3.send(new PutObjectCommand({ ...at(`${prefix}again.csv`), Body: 'x' })))).toBe('allowed');
    expect(await outcomeOf(s3.send(new GetObjectCommand(at(`${sibling}/secret.csv`))))).toBe(403);
    s3.destroy();
  });

  it('reports which server rejected the administrator, without repeating its response', async () => {
    const stranger = { ...admin, secretAccessKey: new Secret('wrong') };
    const refused = cephStorageProvisioner(stranger, owner, testBucket).provision({ name: `${name}4`, prefix: 'x/' });
    await expect(refused).rejects.toThrow(
      `Cannot create the storage user partner-${name}4: the storage returned HTTP 403.`,
    );
  });
});
