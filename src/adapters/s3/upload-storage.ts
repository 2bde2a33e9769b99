import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListPartsCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { randomUUID } from 'node:crypto';
import type { StoredPart } from '../../domain/upload.ts';
import type { UploadStorage } from '../../ports/upload-storage.ts';
import { encodeRfc3986 } from '../sign-request.ts';
import { type PublicBucket, presignWith, publicUrlOf } from './public-bucket.ts';

/** The metadata field of the object that contains the mark. */
const markName = 'inlet-upload';

export function s3UploadStorage(client: S3Client, settings: PublicBucket): UploadStorage {
  const { bucket } = settings;
  const base = publicUrlOf(settings);
  const idOf = ({ key, storageId }: { key: string; storageId: string }) => ({
    Bucket: bucket,
    Key: key,
    UploadId: storageId,
  });
  return {
    start: async (key) => {
      const mark = randomUUID();
      const command = new CreateMultipartUploadCommand({ Bucket: bucket, Key: key, Metadata: { [markName]: mark } });
      const { UploadId: id } = await client.send(command);
      if (id === undefined) throw new Error(`the storage started no upload for ${key}`);
      return { storageId: id, mark };
    },
    // The length is signed, so a URL accepts no more bytes than the part has.
    urlsOf: (upload, parts, seconds) =>
      Promise.all(
        parts.map(({ partNumber, bytes }) =>
          presignWith(
            client,
            settings.region,
            {
              method: 'PUT',
              url: base,
              path: base.path + upload.key.split('/').map(encodeRfc3986).join('/'),
              query: { partNumber: String(partNumber), uploadId: upload.storageId },
              headers: { 'content-length': String(bytes) },
            },
            seconds,
          ),
        ),
      ),
    listParts: (upload) => unlessGone(() => listParts(client, idOf(upload)), null),
    complete: (upload, parts) =>
      unlessGone(async () => {
        const completed = parts.map(({ partNumber, etag }) => ({ PartNumber: partNumber, ETag: etag }));
        await client.send(
          new CompleteMultipartUploadCommand({ ...idOf(upload), MultipartUpload: { Parts: completed } }),
        );
        return true;
      }, false),
    abort: (upload) =>
      unlessGone(async () => void (await client.send(new AbortMultipartUploadCommand(idOf(upload)))), undefined),
    isStored: ({ key, mark }) =>
      unlessGone(async () => {
        const { Metadata: metadata } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
        return metadata?.[markName] === mark;
      }, false),
  };
}

/** All parts fit into one response of the storage. */
async function listParts(
  client: S3Client,
  upload: { readonly Bucket: string; readonly Key: string; readonly UploadId: string },
): Promise<StoredPart[]> {
  const { Parts: parts = [] } = await client.send(new ListPartsCommand({ ...upload, MaxParts: 1_000 }));
  return parts.flatMap(({ PartNumber: partNumber, Size: bytes, ETag: etag }) =>
    partNumber === undefined || bytes === undefined || etag === undefined ? [] : [{ partNumber, bytes, etag }],
  );
}

async function unlessGone<Result, Gone>(run: () => Promise<Result>, gone: Gone): Promise<Result | Gone> {
  try {
    return await run();
  } catch (error) {
    // A missing bucket is a mistake in the configuration.
    if (!(error instanceof S3ServiceException) || error.name === 'NoSuchBucket') throw error;
    if (error.$metadata.httpStatusCode === 404) return gone;
    throw error;
  }
}
