import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { invalidArchive, maxArchiveBytes, requireArchiveName } from '../domain/drop.ts';
import type { ArchiveSpool } from '../ports/drop.ts';

const partSuffix = '.part';

/** Keeps archives in a folder. An archive gets its name when it is complete and on the disk. */
export function directorySpool(directory: string): ArchiveSpool {
  return {
    find: async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const name = (await readdir(directory)).filter((one) => one.endsWith('.zip')).toSorted()[0];
      if (name === undefined) return null;
      const path = join(directory, name);
      const hash = createHash('sha256');
      await pipeline(createReadStream(path), hash);
      return { name, path, bytes: (await stat(path)).size, sha256: hash.digest('hex') };
    },
    save: async (given, body) => {
      const name = requireArchiveName(given);
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const path = join(directory, name);
      const received = await receive(path + partSuffix, body);
      await rename(path + partSuffix, path);
      await syncFolder(directory);
      return { name, path, ...received };
    },
    remove: ({ path }) => rm(path, { force: true }),
  };
}

async function receive(path: string, body: Readable): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const file = await open(path, 'w', 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxArchiveBytes) throw invalidArchive(`is larger than ${maxArchiveBytes} bytes`);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function syncFolder(directory: string): Promise<void> {
  const folder = await open(directory);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
