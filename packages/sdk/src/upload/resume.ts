import { describe } from '../attempt.ts';
import { refuse, succeed, type Result } from '../result.ts';
import { etagOf, etagOfParts } from './etags.ts';
import type { ObjectStorage, Upload } from './object-storage.ts';
import { readPart, type LocalFile, type Reading } from './sources.ts';
import type { Noted, NotedAbout, UploadNotes } from './upload-notes.ts';

/** What is needed to go on with the upload of one local file. */
export type Resuming = { readonly notes: UploadNotes; readonly about: NotedAbout; readonly file: LocalFile };

/** An upload that is open in the storage, and the ETags of the parts that it has. */
export type OpenUpload = Upload & { readonly etags: ReadonlyMap<number, string> };

/** The noted upload if it is of this file as it is now, else a new one; what was noted of another content is removed. */
export async function openUpload(
  storage: ObjectStorage,
  path: string,
  partSize: number,
  resuming: Resuming | null,
): Promise<Result<OpenUpload>> {
  const noted = resuming && (await resuming.notes.read(resuming.about));
  if (noted) {
    const upload = { path, uploadId: noted.uploadId };
    if (isOf(noted, partSize, resuming.file)) {
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
    return refuse('unwritable_folder', `The note on the upload of ${path} cannot be written: ${describe(error)}`);
  }
  return succeed({ path, uploadId, etags: new Map() });
}

function isOf(noted: Noted, partSize: number, { size, mtimeMs }: LocalFile): boolean {
  return noted.partSize === partSize && noted.size === size && noted.mtimeMs === mtimeMs;
}

type Compared = {
  readonly file: LocalFile;
  readonly partSize: number;
  readonly openFile: () => Promise<Reading>;
  readonly signal: AbortSignal;
};

/** The ETag of the object if it has the content of the local file already, else null. Read is only what has its size. */
export async function findSame(
  storage: ObjectStorage,
  path: string,
  { file: { size }, partSize, openFile, signal }: Compared,
): Promise<string | null> {
  const there = await storage.head(path);
  if (!there.ok || there.value?.size !== size) return null;
  const { etag } = there.value;
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
