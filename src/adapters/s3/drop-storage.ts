import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidArchive, maxArchiveBytes } from '../../domain/drop.ts';
import type { DropStorage, OpenArchive, StoredArchive } from '../../ports/drop.ts';
import { type ZipEntry, ZipError, openZipEntry, readZipEntries } from '../zip-archive.ts';

type Settings = { readonly bucket: string; /** A local folder for copies of archives. */ readonly directory: string };

/** The metadata field with the digest of the object. */
const digestName = 'inlet-sha256';

const copyPrefix = 'open-';

export function s3DropStorage(client: S3Client, { bucket, directory }: Settings): DropStorage {
  const keep = async (key: string, body: Buffer | Readable, bytes: number, sha256: string): Promise<void> => {
    const object = { Bucket: bucket, Key: key };
    const metadata = { [digestName]: sha256 };
    try {
      const put = { ...object, Body: body, ContentLength: bytes, Metadata: metadata, IfNoneMatch: '*' };
      await client.send(new PutObjectCommand(put));
    } catch (error) {
      if (!(error instanceof S3ServiceException) || error.$metadata.httpStatusCode !== 412) throw error;
    }
    const { Metadata: stored, ContentLength: size } = await client.send(new HeadObjectCommand(object));
    if (stored?.[digestName] !== sha256 || size !== bytes)
      throw new Error(`the object ${key} in the bucket ${bucket} has different content`);
  };
  const read = async (key: string): Promise<Readable> => {
    const { Body: body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    if (!(body instanceof Readable)) throw new Error(`the object ${key} has no content`);
    return body;
  };
  return {
    keepArchive: (key, { path, bytes, sha256 }) => keep(key, createReadStream(path), bytes, sha256),
    keepFile: (key, content, sha256) => keep(key, content, content.length, sha256),
    readFile: async (key) => Buffer.concat(await (await read(key)).toArray()),
    openArchive: async (archive) => openCopy(directory, archive, await read(archive.key)),
  };
}

/** The lists of a ZIP file are found from its end, so the archive is copied to the disk. */
async function openCopy(directory: string, archive: StoredArchive, body: Readable): Promise<OpenArchive> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Only one command at a time reads an archive, so other copies belong to commands that died.
  for (const name of await readdir(directory))
    if (name.startsWith(copyPrefix)) await rm(join(directory, name), { recursive: true });
  const folder = await mkdtemp(join(directory, copyPrefix));
  const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, 'archive');
    const hash = createHash('sha256');
    await pipeline(
      body,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(path, { mode: 0o600 }),
    );
    if (hash.digest('hex') !== archive.sha256) throw new Error(`the stored archive ${archive.key} has changed`);
    const entries = await asArchiveFailure(() => readZipEntries(path));
    const names = entries.map(({ name }) => name);
    return {
      names,
      open: async (name) => {
        const entry = entries.find((one) => one.name === name);
        if (!entry) throw new Error(`the archive has no file ${name}`);
        if (entry.bytes > maxArchiveBytes) throw new InvalidArchive(`has a list of more than ${maxArchiveBytes} bytes`);
        return Readable.from(contentOf(path, entry), { objectMode: false });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function* contentOf(path: string, entry: ZipEntry): AsyncGenerator<Buffer> {
  try {
    yield* (await openZipEntry(path, entry)) as AsyncIterable<Buffer>;
  } catch (error) {
    throw archiveFailureOf(error);
  }
}

async function asArchiveFailure<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw archiveFailureOf(error);
  }
}

function archiveFailureOf(error: unknown): unknown {
  if (error instanceof ZipError) return new InvalidArchive(error.message);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // A zlib error.
  return code.startsWith('Z_') ? new InvalidArchive('has a damaged file') : error;
}
