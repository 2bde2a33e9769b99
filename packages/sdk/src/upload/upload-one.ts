import { describe, refuseForSignal } from '../attempt.ts';
import { refuse, succeed, type Result } from '../result.ts';
import type { ObjectStorage } from './object-storage.ts';
import type { Permits } from './permits.ts';
import { findSame, type Resuming } from './resume.ts';
import { sendParts } from './send-parts.ts';
import { changed, readPart, type NamedSource, type Reading } from './sources.ts';
import type { UploadNotes } from './upload-notes.ts';

export type UploadedFile = {
  /** Relative to the issued prefix: what an import takes as `file_path`. */
  readonly file_path: string;
  readonly bytes: number;
  readonly etag: string;
  /** With `resumeFolder`: the object had this content already, and nothing was sent. */
  readonly was_there?: true;
};

export type Shared = {
  readonly storage: ObjectStorage;
  /** One is held by every part that is in memory, of all files. */
  readonly permits: Permits;
  readonly partSize: number;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number, how: 'sent' | 'there') => void;
  /** Of uploads that a later call goes on with; null when nothing is left of one that fails. */
  readonly notes: UploadNotes | null;
  /** The address of an object. */
  readonly addressOf: (path: string) => string;
};

const mostParts = 10_000;

/** A small file in one request, a larger one in parts. Nothing is left of one that fails, unless it is to be resumed. */
export async function uploadOne(shared: Shared, path: string, source: NamedSource): Promise<Result<UploadedFile>> {
  const partSize = Math.max(shared.partSize, Math.ceil((source.size ?? 0) / mostParts));
  try {
    const resuming = resumingOf(shared, path, source);
    const { storage, signal } = shared;
    const compare = ({ file }: Resuming): Promise<string | null> =>
      findSame(storage, path, { file, partSize, openFile: source.open, signal });
    const same = resuming && (await withPermit(shared, () => compare(resuming)));
    if (same !== null) {
      const bytes = source.size ?? 0;
      await resuming?.notes.forget(resuming.about);
      shared.onBytes(bytes, 'there');
      return succeed({ file_path: path, bytes, etag: same, was_there: true });
    }
    const reading = await source.open();
    try {
      return await sendAll(shared, path, { source, reading, partSize, resuming });
    } finally {
      await reading.close();
    }
  } catch (error) {
    return refuse('unreadable_file', `${source.name}: ${describe(error)}`);
  }
}

async function withPermit<T>({ permits }: Shared, work: () => Promise<T>): Promise<T> {
  await permits.take();
  try {
    return await work();
  } finally {
    permits.give();
  }
}

function resumingOf({ notes, addressOf }: Shared, path: string, { file }: NamedSource): Resuming | null {
  return notes && file ? { notes, file, about: { object: addressOf(path), file: file.path } } : null;
}

type Sending = {
  readonly source: NamedSource;
  readonly reading: Reading;
  readonly partSize: number;
  readonly resuming: Resuming | null;
};

async function sendAll(
  shared: Shared,
  path: string,
  { source: { size }, reading, partSize, resuming }: Sending,
): Promise<Result<UploadedFile>> {
  const { storage, permits, signal, onBytes } = shared;
  const { read, isUnchanged } = reading;
  await permits.take();
  let held = true;
  try {
    const first = await readPart(signal, read, partSize);
    if (signal.aborted) return refuseForSignal(signal);
    if (first.byteLength === partSize && size !== partSize) {
      held = false;
      return await sendParts(shared, path, { size, partSize, first, read, isUnchanged, resuming });
    }
    // All of it is in memory now: what changes from here on does not reach what is sent.
    if ((size !== null && first.byteLength !== size) || !(await isUnchanged())) return changed(path);
    const put = await storage.put(path, first);
    if (!put.ok) return put;
    onBytes(first.byteLength, 'sent');
    return succeed({ file_path: path, bytes: first.byteLength, etag: put.value.etag });
  } finally {
    if (held) permits.give();
  }
}
