import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import type { ListedObject, ObjectListing } from '../../ports/subscription-store.ts';

/** Each page starts after a key, so that it does not depend on what the storage remembers about earlier pages. */
export function s3ObjectListing(client: S3Client, bucket: string, requireBucket: () => Promise<void>): ObjectListing {
  return {
    listPage: async (prefix, after) => {
      await requireBucket();
      const { Contents: contents = [], IsTruncated: isTruncated } = await client.send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ...(after === null ? {} : { StartAfter: after }) }),
      );
      const objects = contents.flatMap(
        ({ Key: key, ETag: etag, Size: size, LastModified: lastModified }): ListedObject[] => {
          if (key === undefined || etag === undefined || size === undefined || lastModified === undefined) return [];
          if (!key.startsWith(prefix)) throw new Error('the storage listed an object outside the prefix');
          return [{ key, etag, size, lastModified }];
        },
      );
      return { objects, next: isTruncated === true ? (contents.at(-1)?.Key ?? null) : null };
    },
  };
}
