import type { Problem, Upload } from '@inlet/sdk/browser';
import { api } from '../api.ts';
import { type PlannedPart, afterPart, missingParts, partDelay } from './plan.ts';
import type { Remembered, UploadMemory } from './resume.ts';
import type { Slots } from './slots.ts';

type Task = {
  readonly file: File;
  readonly isGzip: boolean;
  readonly filePath: string;
  /** An earlier upload of this file that was interrupted. */
  readonly resumed: Remembered | undefined;
  readonly memory: UploadMemory;
  /** Limits the number of parts that are sent at the same time, across all files. */
  readonly slots: Slots;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
};

export type UploadResult =
  | { readonly uploadId: string; readonly filePath: string }
  | { readonly problem: Problem }
  | { readonly storageStatus: number };

type Open = {
  readonly id: string;
  readonly filePath: string;
  readonly missing: readonly PlannedPart[];
  readonly urls: Map<number, string>;
};

/** Uploads one file in parts. If it was interrupted earlier, sends only what the storage does not have. */
export async function uploadFile(task: Task): Promise<UploadResult> {
  const opened = await open(task);
  if ('problem' in opened) return opened;
  const { file, filePath, memory, signal } = task;
  const entry: Remembered = {
    upload_id: opened.id,
    requested_path: filePath,
    file_path: opened.filePath,
    name: file.name,
    size: file.size,
    last_modified: file.lastModified,
    is_gzip: task.isGzip,
    is_complete: false,
  };
  memory.keep(entry);
  const progress = new Progress(file.size, opened.missing, task.onBytes);
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const results = await Promise.all(
    opened.missing.map(async (part) => {
      const result = await sendPart(opened, part, { ...task, signal: either }, progress);
      if (result) stop.abort();
      return result;
    }),
  );
  // The other parts are aborted because of the first failure.
  const failed = results.filter((result) => result !== null);
  const [first] = failed.toSorted((one, other) => rankOf(one) - rankOf(other));
  if (first) return first;
  const completed = await api.completeUpload(opened.id, { signal });
  if (!completed.ok) return { problem: completed.problem };
  memory.keep({ ...entry, is_complete: true });
  return { uploadId: opened.id, filePath: opened.filePath };
}

/** Abandons an upload. Its file may still be stored, because the upload may have been completed earlier. */
export async function discardUpload({ upload_id: id }: Remembered): Promise<'gone' | 'stored' | 'unknown'> {
  const aborted = await api.abortUpload(id);
  if (!aborted.ok) return 'unknown';
  // Completing succeeds only if the file exists and comes from this upload.
  const completed = await api.completeUpload(id);
  if (completed.ok) return 'stored';
  return completed.problem.from === 'api' && completed.problem.status === 404 ? 'gone' : 'unknown';
}

function rankOf(result: PartFailure): number {
  return 'problem' in result && result.problem.from === 'sdk' && result.problem.code === 'aborted' ? 1 : 0;
}

async function open({ file, filePath, resumed, memory, signal }: Task): Promise<Open | { readonly problem: Problem }> {
  if (resumed) {
    const found = await api.getUpload(resumed.upload_id, { signal });
    if (found.ok) {
      const { file_path: path, part_bytes: partBytes, uploaded, parts } = found.value;
      const missing = missingParts(file.size, partBytes, uploaded);
      return { id: resumed.upload_id, filePath: path, missing, urls: urlsOf(parts) };
    }
    if (found.problem.from === 'sdk' || found.problem.status !== 404) return { problem: found.problem };
    // The upload may have been completed without this page noticing. Completing it again has no effect.
    const completed = await api.completeUpload(resumed.upload_id, { signal });
    if (completed.ok)
      return { id: resumed.upload_id, filePath: completed.value.file_path, missing: [], urls: new Map() };
    // The upload has expired or was deleted, so the file is sent again.
    memory.forget([resumed.upload_id]);
  }
  const created = await api.startUpload({ file_path: filePath, bytes: file.size }, { signal });
  if (!created.ok) return { problem: created.problem };
  const { upload_id: id, file_path: path, part_bytes: partBytes, parts } = created.value;
  return { id, filePath: path, missing: missingParts(file.size, partBytes, []), urls: urlsOf(parts) };
}

function urlsOf(parts: Upload['parts']): Map<number, string> {
  return new Map(parts.map(({ part_number, url }) => [part_number, url]));
}

/** Adds up the bytes that are stored and the bytes that are being sent. */
class Progress {
  readonly #onBytes: (bytes: number) => void;
  readonly #sent = new Map<number, number>();
  readonly #before: number;

  constructor(size: number, missing: readonly PlannedPart[], onBytes: (bytes: number) => void) {
    this.#before = size - missing.reduce((sum, { start, end }) => sum + end - start, 0);
    this.#onBytes = onBytes;
    this.note(0, 0);
  }

  note(part: number, bytes: number): void {
    this.#sent.set(part, bytes);
    this.#onBytes(this.#before + [...this.#sent.values()].reduce((sum, sent) => sum + sent, 0));
  }
}

type PartFailure = { readonly problem: Problem } | { readonly storageStatus: number };

const aborted: PartFailure = {
  problem: { from: 'sdk', code: 'aborted', detail: 'The upload was canceled.', attempts: 1 },
};

async function sendPart(opened: Open, part: PlannedPart, task: Task, progress: Progress): Promise<PartFailure | null> {
  const { file, slots, signal } = task;
  for (let attempt = 1; ; attempt += 1) {
    const url = await urlOf(opened, part.number, signal);
    if (typeof url !== 'string') return url;
    const body = file.slice(part.start, part.end);
    const status = await slots.run(() =>
      signal.aborted ? 0 : put(url, body, signal, (bytes) => progress.note(part.number, bytes)),
    );
    if (signal.aborted) return aborted;
    const next = afterPart(status);
    if (next === 'done') {
      progress.note(part.number, part.end - part.start);
      return null;
    }
    progress.note(part.number, 0);
    if (next === 'sign again') opened.urls.delete(part.number);
    const delay = partDelay(attempt);
    if (next === 'give up' || delay === null) return { storageStatus: status };
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
}

/** The API issues URLs for a limited time, and possibly not for all parts at once. */
async function urlOf({ id, urls }: Open, part: number, signal: AbortSignal): Promise<string | PartFailure> {
  if (signal.aborted) return aborted;
  const known = urls.get(part);
  if (known !== undefined) return known;
  const fresh = await api.getUpload(id, { signal });
  if (!fresh.ok) return { problem: fresh.problem };
  for (const { part_number, url } of fresh.value.parts) urls.set(part_number, url);
  return urls.get(part) ?? { storageStatus: 404 };
}

/** Returns the status, or 0 if the connection was lost. `fetch` does not report the progress of a request. */
function put(url: string, body: Blob, signal: AbortSignal, onBytes: (bytes: number) => void): Promise<number> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    signal.addEventListener('abort', abort);
    request.upload.addEventListener('progress', ({ loaded }) => onBytes(loaded));
    request.addEventListener('loadend', () => {
      signal.removeEventListener('abort', abort);
      resolve(request.status);
    });
    request.open('PUT', url);
    request.send(body);
  });
}
