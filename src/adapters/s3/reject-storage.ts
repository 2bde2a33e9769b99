import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import type { Readable } from 'node:stream';
import type { RejectStorage } from '../../ports/reject-export.ts';
import { encodeRfc3986 } from '../sign-request.ts';
import { type PublicBucket, presignWith, publicUrlOf } from './public-bucket.ts';

/** An object has at most 10,000 parts, so this is enough for 156 GB. */
const partBytes = 16 * 1024 * 1024;

const contentType = 'application/gzip';

/** Writes the objects of exports to the shared bucket, and signs URLs to download them. */
export function s3RejectStorage(client: S3Client, settings: PublicBucket): RejectStorage {
  const { bucket } = settings;
  const base = publicUrlOf(settings);
  return {
    write: (key, body, signal) => writeObject(client, { Bucket: bucket, Key: key }, body, signal),
    remove: async (prefix, isRemoved, signal) => {
      const options = { abortSignal: signal };
      for await (const { Contents: found = [] } of paginateListObjectsV2(
        { client },
        { Bucket: bucket, Prefix: prefix },
        options,
      )) {
        const objects = found.flatMap(({ Key: key }) =>
          key?.startsWith(prefix) && isRemoved(key) ? { Key: key } : [],
        );
        if (objects.length === 0) continue;
        const { Errors: errors = [] } = await client.send(
          new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true } }),
          options,
        );
        if (errors[0]) throw new Error(`the storage did not delete ${errors[0].Key}: ${errors[0].Code}`);
      }
    },
    urlOf: (key, seconds) =>
      presignWith(
        client,
        settings.region,
        {
          method: 'GET',
          url: base,
          path: base.path + key.split('/').map(encodeRfc3986).join('/'),
          query: { 'response-content-disposition': 'attachment' },
          headers: {},
        },
        seconds,
      ),
  };
}

type Target = { readonly Bucket: string; readonly Key: string };

/** A small object is stored with one request. The parts of a larger one are not visible until all of them are stored. */
async function writeObject(client: S3Client, target: Target, body: Readable, signal: AbortSignal): Promise<number> {
  const parts = partsOf(body);
  const first = (await parts.next()).value ?? Buffer.alloc(0);
  if (first.length < partBytes) {
    await client.send(new PutObjectCommand({ ...target, Body: first, ContentType: contentType }), {
      abortSignal: signal,
    });
    return first.length;
  }
  const { UploadId: id } = await client.send(new CreateMultipartUploadCommand({ ...target, ContentType: contentType }));
  if (id === undefined) throw new Error(`the storage started no upload for ${target.Key}`);
  const upload = { ...target, UploadId: id };
  try {
    const stored: { PartNumber: number; ETag: string | undefined }[] = [];
    let bytes = 0;
    for (let part: Buffer | undefined = first; part; part = (await parts.next()).value ?? undefined) {
      const number = stored.length + 1;
      const command = new UploadPartCommand({ ...upload, PartNumber: number, Body: part });
      stored.push({ PartNumber: number, ETag: (await client.send(command, { abortSignal: signal })).ETag });
      bytes += part.length;
    }
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: stored } }));
    return bytes;
  } catch (error) {
    // The lifecycle rule of the bucket removes an upload that is not aborted.
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}

async function* partsOf(body: Readable): AsyncGenerator<Buffer, undefined> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < partBytes) continue;
    yield Buffer.concat(chunks);
    [chunks, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(chunks);
}
