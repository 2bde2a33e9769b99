import { describe, refuseForSignal } from '../attempt.ts';
import { refuse, succeed, type Refusal, type Result } from '../result.ts';
import { etagOf, expectedEtag } from './etags.ts';
import type { Part } from './object-storage.ts';
import { openUpload, type Resuming } from './resume.ts';
import { changed, readPart, type Read } from './sources.ts';
import type { Shared, UploadedFile } from './upload-one.ts';

type Parts = {
  readonly size: number | null;
  readonly partSize: number;
  readonly first: Uint8Array<ArrayBuffer>;
  readonly read: Read;
  readonly isUnchanged: () => Promise<boolean>;
  readonly resuming: Resuming | null;
};

/** Reads one part after the other, and sends as many at once as there are permits. The first part comes with its own. */
export async function sendParts(
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
  const state: { failed: Refusal | null; bytes: number } = { failed: null, bytes: 0 };
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
  const failed = signal.aborted ? refuseForSignal(signal) : state.failed;
  const isAnother = failed === null && ((size !== null && bytes !== size) || !(await isUnchanged()));
  const done = failed ?? (isAnother ? changed(path) : await storage.complete(upload, inOrder, bytes));
  if (done.ok) {
    await resuming?.notes.forget(resuming.about);
    return checked(path, inOrder, done.value.etag) ?? succeed({ file_path: path, bytes, etag: done.value.etag });
  }
  // Whoever can go on later keeps what is there. What is of two contents is of no use.
  if (resuming && !isAnother) return done;
  const removed = await storage.remove(upload);
  await resuming?.notes.forget(resuming.about);
  if (removed.ok) return done;
  const detail = `${done.problem.detail} What is left of it could not be removed: ${removed.problem.detail}`;
  return { ok: false, problem: { ...done.problem, detail } };
}

/** The storage names a whole after its parts, where it names parts after their content. */
function checked(path: string, parts: readonly Part[], etag: string): Refusal | null {
  const expected = expectedEtag(parts.map((part) => part.etag));
  if (expected === null || !/^"[0-9a-f]{32}-\d+"$/.test(etag) || etag === expected) return null;
  return refuse('storage_refused', `${path}: the storage put something else together than what was sent.`);
}
