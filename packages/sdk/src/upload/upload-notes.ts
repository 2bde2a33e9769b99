import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** An upload in parts that was begun and has not ended. */
export type Noted = {
  readonly uploadId: string;
  readonly partSize: number;
  /** Of the local file: with others it is another file. */
  readonly size: number;
  readonly mtimeMs: number;
};

/** Where the object will be, and which local file it comes from. */
export type NotedAbout = { readonly object: string; readonly file: string };

export type UploadNotes = {
  readonly read: (about: NotedAbout) => Promise<Noted | null>;
  readonly write: (about: NotedAbout, noted: Noted) => Promise<void>;
  readonly forget: (about: NotedAbout) => Promise<void>;
};

/**
 * Notes in a folder, one file each, so that a process that comes later can go on. They need not be right: what is in the
 * storage is compared with the local file, part by part.
 */
export function uploadNotes(folder: string): UploadNotes {
  const pathOf = ({ object, file }: NotedAbout): string =>
    join(
      folder,
      `${createHash('sha256')
        .update(JSON.stringify([object, file]))
        .digest('hex')}.json`,
    );
  return {
    read: async (about) => {
      try {
        return parse(await readFile(pathOf(about), 'utf8'));
      } catch {
        return null;
      }
    },
    write: async (about, noted) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const beside = join(folder, `${randomUUID()}.new`);
      await writeFile(beside, `${JSON.stringify({ ...about, ...noted }, null, 2)}\n`, { mode: 0o600 });
      await rename(beside, pathOf(about));
    },
    // One that stays does no harm: what is in the storage decides.
    forget: (about) => rm(pathOf(about), { force: true }).catch(() => {}),
  };
}

function parse(text: string): Noted | null {
  const value: unknown = JSON.parse(text);
  return isNoted(value) ? value : null;
}

function isNoted(value: unknown): value is Noted {
  if (typeof value !== 'object' || value === null) return false;
  if (!('uploadId' in value) || typeof value.uploadId !== 'string' || value.uploadId === '') return false;
  const numbers = new Map<string, unknown>(Object.entries(value));
  return ['partSize', 'size', 'mtimeMs'].every((name) => typeof numbers.get(name) === 'number');
}
