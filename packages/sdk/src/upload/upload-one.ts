import { describe, refuseForSignal } from '../attempt.ts';
import { refuse, succeed, type Refusal, type Result } from '../result.ts';
import type { ObjectStorage, Part } from './object-storage.ts';
import type { Permits } from './permits.ts';
import type { NamedSource } from './sources.ts';

export type UploadedFile = {
  /** Relative to the issued prefix: what an import takes as `file_path`. */
  readonly file_path: string;
  readonly bytes: number;
  readonly etag: string;
};

export type Shared = {
  readonly storage: ObjectStorage;
  /** One is held by every part that is in memory, of all files. */
  readonly permits: Permits;
  readonly partSize: number;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
};

const mostParts = 10_000;

/** A small file in one request, a larger one in parts. Nothing is left of one that fails. */
export async function uploadOne(shared: Shared, path: string, source: NamedSource): Promise<Result<UploadedFile>> {
  try {
    const reading = await source.open();
    try {
      return await sendAll(shared, path, source.size, reading.read);
    } finally {
      await reading.close();
    }
  } catch (error) {
    return refuse('unreadable_file', `${source.name}: ${describe(error)}`);
  }
}

type Read = (size: number) => Promise<Uint8Array<ArrayBuffer>>;

async function sendAll(shared: Shared, path: string, size: number | null, read: Read): Promise<Result<UploadedFile>> {
  const { storage, permits, onBytes } = shared;
  const partSize = Math.max(shared.partSize, Math.ceil((size ?? 0) / mostParts));
  await permits.take();
  let held = true;
  try {
    const first = await readPart(shared, read, partSize);
    if (shared.signal.aborted) return refuseForSignal(shared.signal);
    if (first.byteLength === partSize && size !== partSize) {
      held = false;
      return await sendParts(shared, path, { size, partSize, first, read });
    }
    if (size !== null && first.byteLength !== size) return changed(path);
    const put = await storage.put(path, first);
    if (!put.ok) return put;
    onBytes(first.byteLength);
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
};

/** Reads one part after the other, and sends as many at once as there are permits. The first part comes with its own. */
async function sendParts(
  shared: Shared,
  path: string,
  { size, partSize, first, read }: Parts,
): Promise<Result<UploadedFile>> {
  const { storage, permits, signal, onBytes } = shared;
  const begun = await storage.begin(path);
  if (!begun.ok) {
    permits.give();
    return begun;
  }
  const upload = { path, uploadId: begun.value.uploadId };
  const parts: Part[] = [];
  const sending: Promise<void>[] = [];
  const state: { failed: Refusal | null; bytes: number } = { failed: null, bytes: 0 };
  const send = async (number: number, part: Uint8Array<ArrayBuffer>): Promise<void> => {
    const sent = await storage.putPart(upload, number, part);
    permits.give();
    if (sent.ok) {
      parts.push(sent.value);
      onBytes(part.byteLength);
    } else state.failed ??= sent;
  };
  const readNext = (): Promise<Uint8Array<ArrayBuffer>> =>
    readPart(shared, read, partSize).catch((error: unknown) => {
      state.failed ??= refuse('unreadable_file', `${path}: ${describe(error)}`);
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
  const failed = whatFailed(state.failed, signal) ?? (size === null || bytes === size ? null : changed(path));
  const done = failed ?? (await storage.complete(upload, inOrder, bytes));
  if (done.ok) return succeed({ file_path: path, bytes, etag: done.value.etag });
  const removed = await storage.remove(upload);
  if (removed.ok) return done;
  const detail = `${done.problem.detail} What is left of it could not be removed: ${removed.problem.detail}`;
  return { ok: false, problem: { ...done.problem, detail } };
}

function whatFailed(failed: Refusal | null, signal: AbortSignal): Refusal | null {
  return signal.aborted ? refuseForSignal(signal) : failed;
}

/** Whoever aborted does not wait for the next part either: a stream may never give it. */
function readPart({ signal }: Shared, read: Read, size: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(new Uint8Array(0));
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    read(size)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}

function changed(path: string): Refusal {
  return refuse('unreadable_file', `${path}: it has another size than when the upload began.`);
}
