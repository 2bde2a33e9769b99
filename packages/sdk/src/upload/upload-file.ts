import { type Failure, type Result, fail, succeed } from '../result.ts';
import { describe, abortedBy } from '../send.ts';
import { type ObjectStorage, type Part, etagOf, expectedEtag } from './object-storage.ts';
import { type Resuming, type UploadNotes, findSame, openUpload } from './resume.ts';
import { type NamedSource, type Read, type Reading, changed, readPart } from './sources.ts';

/** A FIFO semaphore. */
export class Permits {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async take(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}

export type UploadedFile = {
  /** Path relative to the partner's prefix. Use it as the `file_path` of an import. */
  readonly file_path: string;
  readonly bytes: number;
  readonly etag: string;
  /** True if the object already had this content and was not sent again. Set only with `resumeFolder`. */
  readonly was_there?: true;
};

export type Shared = {
  readonly storage: ObjectStorage;
  /** Limits the number of parts in memory, across all files. */
  readonly permits: Permits;
  readonly partSize: number;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number, how: 'sent' | 'there') => void;
  /** State of unfinished uploads. Null if failed uploads are removed. */
  readonly notes: UploadNotes | null;
  /** Returns the URL of an object. */
  readonly addressOf: (path: string) => string;
};

const maxParts = 10_000;

/** Uploads a small file in one request and a larger file in parts. Removes a failed upload unless it can be resumed. */
export async function uploadOneFile(shared: Shared, path: string, source: NamedSource): Promise<Result<UploadedFile>> {
  const partSize = Math.max(shared.partSize, Math.ceil((source.size ?? 0) / maxParts));
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
    return fail('unreadable_file', `${source.name}: ${describe(error)}`);
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
    if (signal.aborted) return abortedBy(signal);
    if (first.byteLength === partSize && size !== partSize) {
      held = false;
      return await sendParts(shared, path, { size, partSize, first, read, isUnchanged, resuming });
    }
    // The whole file is in memory now, so later changes do not affect the upload.
    if ((size !== null && first.byteLength !== size) || !(await isUnchanged())) return changed(path);
    const put = await storage.put(path, first);
    if (!put.ok) return put;
    onBytes(first.byteLength, 'sent');
    return succeed({ file_path: path, bytes: first.byteLength, etag: put.value.etag });
  } finally {
    if (held) permits.give();
  }
}

type Parts = {
  readonly size: number | null;
  readonly partSize: number;
  readonly first: Uint8Array<ArrayBuffer>;
  readonly read: Read;
  readonly isUnchanged: () => Promise<boolean>;
  readonly resuming: Resuming | null;
};

/** Reads parts in sequence and sends them concurrently, one per permit. The first part already has a permit. */
async function sendParts(
  shared: Shared,
  path: string,
  { size, partSize, first, read, isUnchanged, resuming }: Parts,
): Promise<Result<UploadedFile>> {
  const { storage, permits, signal, onBytes } = shared;
  const opened = await openUpload(storage, path, partSize, resuming).catch((error: unknown) => {
    permits.give();
    throw error;
  });
  if (!opened.ok) {
    permits.give();
    return opened;
  }
  const upload = opened.value;
  const parts: Part[] = [];
  const sending: Promise<void>[] = [];
  const state: { failed: Failure | null; bytes: number } = { failed: null, bytes: 0 };
  const send = async (number: number, part: Uint8Array<ArrayBuffer>): Promise<void> => {
    const there = upload.etags.get(number);
    if (there !== undefined && there === etagOf(part)) {
      permits.give();
      parts.push({ number, etag: there });
      onBytes(part.byteLength, 'there');
      return;
    }
    const sent = await storage.putPart(upload, number, part);
    permits.give();
    if (sent.ok) {
      parts.push(sent.value);
      onBytes(part.byteLength, 'sent');
    } else state.failed ??= sent;
  };
  const readNext = (): Promise<Uint8Array<ArrayBuffer>> =>
    readPart(signal, read, partSize).catch((error: unknown) => {
      state.failed ??= fail('unreadable_file', `${path}: ${describe(error)}`);
      return new Uint8Array(0);
    });
  let body = first;
  for (let number = 1; ; number += 1) {
    if (body.byteLength === 0 || state.failed) {
      permits.give();
      break;
    }
    state.bytes += body.byteLength;
    sending.push(send(number, body));
    if (body.byteLength < partSize) break;
    await permits.take();
    body = await readNext();
  }
  await Promise.all(sending);
  const { bytes } = state;
  const inOrder = parts.toSorted((a, b) => a.number - b.number);
  const failed = signal.aborted ? abortedBy(signal) : state.failed;
  const isAnother = failed === null && ((size !== null && bytes !== size) || !(await isUnchanged()));
  const done = failed ?? (isAnother ? changed(path) : await storage.complete(upload, inOrder, bytes));
  if (done.ok) {
    await resuming?.notes.forget(resuming.about);
    return checked(path, inOrder, done.value.etag) ?? succeed({ file_path: path, bytes, etag: done.value.etag });
  }
  // A resumable upload keeps its parts, unless the file has changed.
  if (resuming && !isAnother) return done;
  const removed = await storage.remove(upload);
  await resuming?.notes.forget(resuming.about);
  if (removed.ok) return done;
  const detail = `${done.problem.detail} Its parts could not be removed: ${removed.problem.detail}`;
  return { ok: false, problem: { ...done.problem, detail } };
}

/** Verifies the ETag of the object if the storage derives it from the parts. */
function checked(path: string, parts: readonly Part[], etag: string): Failure | null {
  const expected = expectedEtag(parts.map((part) => part.etag));
  if (expected === null || !/^"[0-9a-f]{32}-\d+"$/.test(etag) || etag === expected) return null;
  return fail('storage_refused', `${path}: the stored object does not match the uploaded parts.`);
}
