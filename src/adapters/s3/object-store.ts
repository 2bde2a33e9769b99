import {
  type S3Client,
  GetObjectCommand,
  HeadObjectCommand,
  S3ServiceException,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { brokenGzip, sniffedBytes, startsLikeGzip, trailingBytes } from '@inlet/row-rule/file-rule';
import { unpackHead } from '@inlet/row-rule/unpack-head';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Failure } from '../../domain/failure.ts';
import { failureOf } from '../../domain/source-file.ts';
import type { FoundObject, ObjectStore, OpenedObject, StoredObject } from '../../ports/object-store.ts';
import { blame } from '../failed-dependency.ts';
import type { Agents } from '../guarded-agents.ts';
import { storageOf } from './connect.ts';
import { bytesOf, quickGet } from './quick-get.ts';

export function s3ObjectStore(client: S3Client, bucket: string, guarded?: Agents): ObjectStore {
  return {
    find: (key) => findObject(client, bucket, key),
    list: (prefix, limit) => listObjects(client, bucket, prefix, limit),
    open: (object, signal) => openObject(client, bucket, object, { signal, guarded }),
    read: (object, maxBytes, signal) => readObject(client, bucket, object, { maxBytes, signal, guarded }),
  };
}

async function findObject(client: S3Client, bucket: string, key: string): Promise<FoundObject | null> {
  try {
    const found = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
    return { key, etag: found.ETag ?? '', size: found.ContentLength ?? 0, lastModified: found.LastModified ?? null };
  } catch (error) {
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return null;
    throw error;
  }
}

async function listObjects(client: S3Client, bucket: string, prefix: string, limit: number): Promise<FoundObject[]> {
  const found: FoundObject[] = [];
  for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix })) {
    for (const { Key: key, ETag: etag, Size: size, LastModified: lastModified = null } of page.Contents ?? []) {
      if (key === undefined || etag === undefined || size === undefined) continue;
      if (!key.startsWith(prefix)) throw new Error('the storage listed an object outside the prefix');
      if (key.endsWith('/') && size === 0) continue;
      found.push({ key, etag, size, lastModified });
      if (found.length === limit) return found;
    }
  }
  return found;
}

type GetRequest = { readonly signal: AbortSignal; readonly guarded: Agents | undefined };

async function openObject(
  client: S3Client,
  bucket: string,
  object: StoredObject,
  request: GetRequest,
): Promise<OpenedObject> {
  const { head, whole, bytesRead } = await peek(await getBody(client, bucket, object, request));
  const isGzip = startsLikeGzip(head);
  return { isGzip, head: isGzip ? await unpackHead(head) : head, body: whole, bytesRead };
}

async function readObject(
  client: S3Client,
  bucket: string,
  object: StoredObject,
  { maxBytes, signal, guarded }: GetRequest & { readonly maxBytes: number },
): Promise<{ isGzip: boolean; content: Uint8Array } | null> {
  const bytes =
    (await quickGet(client, bucket, object, signal, guarded)) ??
    (await bytesOf(await getBody(client, bucket, object, { signal, guarded })));
  const isGzip = startsLikeGzip(bytes);
  const content = isGzip ? await unpackWhole(bytes, maxBytes) : bytes.length <= maxBytes ? bytes : null;
  return content && { isGzip, content };
}

/** If-Match makes the request fail if the object changed after it was listed. */
async function getBody(
  client: S3Client,
  bucket: string,
  object: StoredObject,
  { signal, guarded }: GetRequest,
): Promise<Readable> {
  try {
    const command = new GetObjectCommand({ Bucket: bucket, Key: object.key, IfMatch: object.etag });
    const { Body: body } = await client.send(command, { abortSignal: signal });
    if (!(body instanceof Readable)) throw new Error(`the storage returned no stream for ${object.key}`);
    return body.once('error', (error) => blame(storageOf(guarded), error));
  } catch (error) {
    // A missing bucket does not mean that the file changed.
    if (!(error instanceof S3ServiceException) || error.name === 'NoSuchBucket') throw error;
    const status = error.$metadata.httpStatusCode;
    if (status === 404 || status === 412) {
      throw new Failure('file_changed', 'The file was overwritten or deleted after the job listed it.', {
        cause: error,
      });
    }
    throw error;
  }
}

/** Decompresses a whole gzip file. Returns null if the content exceeds `maxBytes`. */
export async function unpackWhole(packed: Uint8Array, maxBytes: number): Promise<Uint8Array | null> {
  const gunzip = createGunzip({ chunkSize: 65_536 });
  gunzip.end(packed);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxBytes) return null;
      chunks.push(chunk);
    }
  } catch (error) {
    throw failureOf(brokenGzip, error);
  }
  // zlib ignores all data after a zero byte that follows a gzip member. ClickHouse, which decompresses larger files,
  // rejects such a file.
  if (gunzip.bytesWritten < packed.length) throw failureOf(trailingBytes);
  return Buffer.concat(chunks, size);
}

type Peeked = { readonly head: Buffer; readonly whole: Readable; readonly bytesRead: () => number };

/** Reads the first bytes. `whole` still provides the complete body. */
export async function peek(body: Readable): Promise<Peeked> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  const taken: Buffer[] = [];
  let size = 0;
  while (size < sniffedBytes) {
    const next = await chunks.next();
    if (next.done === true) break;
    taken.push(next.value);
    size += next.value.length;
  }
  const rest: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => chunks };
  let bytesRead = 0;
  const all = (async function* () {
    for (const part of [taken, rest]) {
      for await (const chunk of part) {
        bytesRead += chunk.length;
        yield chunk;
      }
    }
  })();
  const whole = Readable.from(all, { objectMode: false });
  // A generator that was never started runs no cleanup code. Without this handler, an unread object would keep its
  // connection open.
  whole.once('close', () => body.destroy());
  return { head: Buffer.concat(taken).subarray(0, sniffedBytes), whole, bytesRead: () => bytesRead };
}
