import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { archiveNameOf, maxArchiveBytes } from '../domain/drop.ts';
import { Failure } from '../domain/failure.ts';
import type { ArchiveSpool, SpooledArchive } from '../ports/drop.ts';

/**
 * An archive gets its name when it is complete and on the disk. Several commands can receive an archive at the same
 * time.
 */
const partSuffix = '.part';

/** A request takes at most this long. An older part belongs to a command that died. */
const maxPartAgeMs = 3_600_000;

/**
 * The last response that was not an archive. Keeping one is enough. If it contains an archive in an unknown form, DROP
 * does not deliver another one.
 */
const unknownName = 'not-an-archive';

/** A local file, a file in the central directory, and an empty archive start with these characters. */
const zipStart = Buffer.from('PK');

/** Keeps archives in a folder. */
export function directorySpool(directory: string, maxBytes: number = maxArchiveBytes): ArchiveSpool {
  return {
    find: async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const name = (await readdir(directory)).filter((one) => one.endsWith('.zip')).toSorted()[0];
      if (name === undefined) return null;
      const path = join(directory, name);
      const hash = createHash('sha256');
      await pipeline(createReadStream(path), hash);
      const { size: bytes, mtime: receivedAt } = await stat(path);
      return { name, path, bytes, receivedAt, sha256: hash.digest('hex') };
    },
    save: async (given, body, receivedAt) => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await removeOldParts(directory);
      const part = join(directory, `${randomUUID()}${partSuffix}`);
      const { isZip, ...received } = await receive(part, body, { maxBytes, receivedAt });
      const name = isZip ? archiveNameOf(given, received.sha256) : unknownName;
      const path = join(directory, name);
      await rename(part, path);
      await syncFolder(directory);
      if (!isZip) throw unknownContent(path);
      return { name, path, ...received };
    },
    remove: ({ path }) => rm(path, { force: true }),
  };
}

async function removeOldParts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith(partSuffix)) continue;
    const path = join(directory, name);
    // Another command can rename its part at any time.
    const part = await stat(path).catch(() => null);
    if (part && part.mtimeMs < Date.now() - maxPartAgeMs) await rm(path, { force: true });
  }
}

function unknownContent(path: string): Failure {
  return new Failure(
    'invalid_request',
    `DROP, or a proxy, answered with neither an archive nor a message. The response is in ${path}. Check INLET_DROP_URL and the network.`,
  );
}

function tooLarge(maxBytes: number): Failure {
  return new Failure(
    'invalid_request',
    `The archive is larger than ${maxBytes} bytes. It is not stored. Contact DROP support.`,
  );
}

type Receiving = { readonly maxBytes: number; readonly receivedAt: Date | undefined };
type Received = Omit<SpooledArchive, 'name' | 'path'> & { readonly isZip: boolean };

async function receive(path: string, body: Readable, { maxBytes, receivedAt }: Receiving): Promise<Received> {
  const file = await open(path, 'w', 0o600);
  const hash = createHash('sha256');
  let [bytes, start] = [0, Buffer.alloc(0)];
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      hash.update(chunk);
      if (start.length < zipStart.length) start = Buffer.concat([start, chunk]).subarray(0, zipStart.length);
      await file.writeFile(chunk);
    }
    // Another command reads the time from the file.
    if (receivedAt) await file.utimes(receivedAt, receivedAt);
    await file.sync();
    const { mtime } = await file.stat();
    return { bytes, sha256: hash.digest('hex'), receivedAt: mtime, isZip: start.equals(zipStart) };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function syncFolder(directory: string): Promise<void> {
  const folder = await open(directory);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
