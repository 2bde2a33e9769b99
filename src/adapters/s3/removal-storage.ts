import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { RemovalStorage } from '../../ports/partner-removal.ts';

type Version = { readonly Key: string; readonly VersionId?: string };
type Upload = { readonly Key: string; readonly UploadId: string };

/** Removes objects with all of their versions, and unfinished uploads, whose parts are stored as well. */
export function s3RemovalStorage(
  client: S3Client,
  bucket: string,
  removeUser: RemovalStorage['removeUser'],
): RemovalStorage {
  return {
    removeUser,
    countObjects: async (prefix) => {
      let [versions, uploads] = [0, 0];
      for await (const page of versionsIn(client, bucket, prefix)) versions += page.length;
      for await (const page of uploadsIn(client, bucket, prefix)) uploads += page.length;
      const place = { store: 'storage', shard: null, replica: null } as const;
      return [
        { ...place, place: 'objects', count: versions },
        { ...place, place: 'unfinished uploads', count: uploads },
      ];
    },
    removeObjects: async (prefix) => {
      for await (const page of uploadsIn(client, bucket, prefix))
        for (const upload of page) await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, ...upload }));
      for await (const page of versionsIn(client, bucket, prefix)) {
        if (page.length === 0) continue;
        const { Errors: errors = [] } = await client.send(
          new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: [...page], Quiet: true } }),
        );
        if (errors[0]) throw new Error(`the storage did not delete ${errors[0].Key}: ${errors[0].Code}`);
      }
    },
  };
}

/** Includes delete markers. The storage can list keys that were not requested, so the prefix is checked. */
async function* versionsIn(client: S3Client, bucket: string, prefix: string): AsyncGenerator<readonly Version[]> {
  let from: { readonly KeyMarker?: string | undefined; readonly VersionIdMarker?: string | undefined } | null = {};
  while (from) {
    const page: Awaited<ReturnType<typeof listVersions>> = await listVersions(client, { bucket, prefix, from });
    yield [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])].flatMap(({ Key, VersionId }) =>
      Key?.startsWith(prefix) ? { Key, ...(VersionId === undefined ? {} : { VersionId }) } : [],
    );
    from = page.IsTruncated ? { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker } : null;
  }
}

function listVersions(
  client: S3Client,
  { bucket, prefix, from }: { readonly bucket: string; readonly prefix: string; readonly from: object },
) {
  return client.send(new ListObjectVersionsCommand({ Bucket: bucket, Prefix: prefix, MaxKeys: 1000, ...from }));
}

async function* uploadsIn(client: S3Client, bucket: string, prefix: string): AsyncGenerator<readonly Upload[]> {
  let from: { readonly KeyMarker?: string | undefined; readonly UploadIdMarker?: string | undefined } | null = {};
  while (from) {
    const page: Awaited<ReturnType<typeof listUploads>> = await listUploads(client, { bucket, prefix, from });
    yield (page.Uploads ?? []).flatMap(({ Key, UploadId }) =>
      Key?.startsWith(prefix) && UploadId !== undefined ? { Key, UploadId } : [],
    );
    from = page.IsTruncated ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : null;
  }
}

function listUploads(
  client: S3Client,
  { bucket, prefix, from }: { readonly bucket: string; readonly prefix: string; readonly from: object },
) {
  return client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...from }));
}
