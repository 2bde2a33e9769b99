import { GetObjectCommand, PutObjectCommand, type S3Client, S3ServiceException } from '@aws-sdk/client-s3';

// The shared bucket contains an ID, which `inlet migrate` records in PostgreSQL. Without the recorded ID, a worker with
// the wrong bucket or with replaced storage would report that partners' files do not exist. Installations that share a
// bucket share its ID.

const key = '.inlet/bucket-id';

/** Returns null if the bucket has no ID. */
export async function readBucketIdentity(client: S3Client, bucket: string): Promise<string | null> {
  try {
    const { Body: body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    return (await body?.transformToString())?.trim() ?? null;
  } catch (error) {
    if (error instanceof S3ServiceException && error.name === 'NoSuchKey') return null;
    throw error;
  }
}

export async function writeBucketIdentity(client: S3Client, bucket: string, identity: string): Promise<void> {
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: identity }));
}
