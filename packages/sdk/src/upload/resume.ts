import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Result, fail, succeed } from '../result.ts';
import { describe } from '../send.ts';
import { type ObjectStorage, type Upload, etagOf, etagOfParts } from './object-storage.ts';
import { type LocalFile, type Reading, readPart } from './sources.ts';

/** An unfinished multipart upload. */
type SavedUpload = {
  readonly uploadId: string;
  readonly partSize: number;
  /** Size and modification time identify the version of the local file. */
  readonly size: number;
  readonly mtimeMs: number;
};

/** The object and the local file. */
type UploadTarget = { readonly object: string; readonly file: string };

export type UploadNotes = {
  readonly read: (about: UploadTarget) => Promise<SavedUpload | null>;
  readonly write: (about: UploadTarget, saved: SavedUpload) => Promise<void>;
  readonly forget: (about: UploadTarget) => Promise<void>;
};

/**
 * Saves each unfinished upload as a file in a folder, so that a later process can resume it. The saved state does not
 * have to be correct, because the parts in the storage are compared with the local file.
 */
export function uploadNotes(folder: string): UploadNotes {
  const pathOf = ({ object, file }: UploadTarget): string =>
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
    write: async (about, saved) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const temporary = join(folder, `${randomUUID()}.new`);
      await writeFile(temporary, `${JSON.stringify({ ...about, ...saved }, null, 2)}\n`, { mode: 0o600 });
      await rename(temporary, pathOf(about));
    },
    // A leftover file has no effect, because the state in the storage is checked first.
    forget: (about) => rm(pathOf(about), { force: true }).catch(() => {}),
  };
}

function parse(text: string): SavedUpload | null {
  const value: unknown = JSON.parse(text);
  return isSavedUpload(value) ? value : null;
}

function isSavedUpload(value: unknown): value is SavedUpload {
  if (typeof value !== 'object' || value === null) return false;
  if (!('uploadId' in value) || typeof value.uploadId !== 'string' || value.uploadId === '') return false;
  const numbers = new Map<string, unknown>(Object.entries(value));
  return ['partSize', 'size', 'mtimeMs'].every((name) => typeof numbers.get(name) === 'number');
}

/** The data that is needed to resume the upload of one local file. */
export type Resuming = { readonly notes: UploadNotes; readonly about: UploadTarget; readonly file: LocalFile };

/** An open multipart upload and the ETags of its uploaded parts. */
export type OpenUpload = Upload & { readonly etags: ReadonlyMap<number, string> };

/**
 * Returns the saved upload if it matches the current file. Otherwise, removes the saved upload and starts a new one.
 */
export async function openUpload(
  storage: ObjectStorage,
  path: string,
  partSize: number,
  resuming: Resuming | null,
): Promise<Result<OpenUpload>> {
  const saved = resuming && (await resuming.notes.read(resuming.about));
  if (saved) {
    const upload = { path, uploadId: saved.uploadId };
    if (isOf(saved, partSize, resuming.file)) {
      const listed = await storage.listParts(upload);
      if (!listed.ok) return listed;
      if (listed.value) return succeed({ ...upload, etags: listed.value });
    } else {
      const removed = await storage.remove(upload);
      if (!removed.ok) return removed;
    }
    await resuming.notes.forget(resuming.about);
  }
  const begun = await storage.begin(path);
  if (!begun.ok) return begun;
  const { uploadId } = begun.value;
  const { size, mtimeMs } = resuming?.file ?? { size: 0, mtimeMs: 0 };
  try {
    await resuming?.notes.write(resuming.about, { uploadId, partSize, size, mtimeMs });
  } catch (error) {
    await storage.remove({ path, uploadId });
    return fail('unwritable_folder', `The resume state of ${path} cannot be written: ${describe(error)}`);
  }
  return succeed({ path, uploadId, etags: new Map() });
}

function isOf(saved: SavedUpload, partSize: number, { size, mtimeMs }: LocalFile): boolean {
  return saved.partSize === partSize && saved.size === size && saved.mtimeMs === mtimeMs;
}

type Compared = {
  readonly file: LocalFile;
  readonly partSize: number;
  readonly openFile: () => Promise<Reading>;
  readonly signal: AbortSignal;
};

/**
 * Returns the ETag of the object if it already has the content of the local file. Otherwise, returns null. Reads the
 * file only if the sizes match.
 */
export async function findSame(
  storage: ObjectStorage,
  path: string,
  { file: { size }, partSize, openFile, signal }: Compared,
): Promise<string | null> {
  const existing = await storage.head(path);
  if (!existing.ok || existing.value?.size !== size) return null;
  const { etag } = existing.value;
  const isInParts = size > partSize;
  if (etag.endsWith(`-${Math.ceil(size / partSize)}"`) !== isInParts) return null;
  const reading = await openFile();
  try {
    const etags: string[] = [];
    for (let bytes = 0; bytes < size || etags.length === 0;) {
      const part = await readPart(signal, reading.read, partSize);
      etags.push(etagOf(part));
      bytes += part.byteLength;
      if (part.byteLength < partSize) break;
    }
    const isSame = (isInParts ? etagOfParts(etags) : etags[0]) === etag;
    return isSame && (await reading.isUnchanged()) ? etag : null;
  } finally {
    await reading.close();
  }
}
