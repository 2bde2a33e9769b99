import { signal } from '@preact/signals';
import { startsLikeGzip } from '@inlet/row-rule/file-rule';
import type { CheckRules } from './check-file.ts';
import { describeFailure } from './describe-upload.ts';
import type { Entry } from './entry.ts';
import { type UploadMemory, findRemembered } from './resume.ts';
import { Checker } from './run-check.ts';
import { Slots } from './slots.ts';
import { uploadFile } from './upload-file.ts';

const partsAtOnce = 3;
const filesAtOnce = 3;
/** How often the page is drawn while bytes are checked or sent. */
const drawMs = 100;

/** The files of one form: chosen, checked, and uploaded. */
export class UploadJob {
  /** Changes when the page must be drawn again. Entries are changed in place, because there can be 10,000. */
  readonly version = signal(0);
  readonly entries = new Map<string, Entry>();
  readonly memory: UploadMemory;
  readonly #checker = new Checker();
  readonly #slots = new Slots(partsAtOnce);
  #checking: AbortController | null = null;
  #uploading: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(memory: UploadMemory) {
    this.memory = memory;
  }

  get isChecking(): boolean {
    return this.#checking !== null;
  }

  get isUploading(): boolean {
    return this.#uploading !== null;
  }

  /** Adds files. A file replaces an earlier one of the same name, because both would have the same path. */
  async add(files: readonly File[]): Promise<void> {
    const remembered = this.memory.all();
    for (const file of files) {
      const isGzip = startsLikeGzip(new Uint8Array(await readStart(file)));
      const resumed = findRemembered(remembered, file);
      this.entries.set(file.name, {
        file,
        isGzip,
        resumed,
        step: 'waiting',
        bytes: 0,
        checked: undefined,
        failure: null,
        uploaded: null,
      });
    }
    this.#draw();
  }

  remove(names: readonly string[]): void {
    for (const name of names) this.entries.delete(name);
    this.#draw();
  }

  /** Checks the files that are waiting. With `isAgain`, checks all files, because the rules have changed. */
  async check(rules: CheckRules, isAgain: boolean): Promise<void> {
    this.#checking?.abort();
    const own = new AbortController();
    this.#checking = own;
    if (isAgain) for (const entry of this.entries.values()) restartCheck(entry);
    for (const entry of this.entries.values()) {
      if (own.signal.aborted) return;
      if (entry.step !== 'waiting') continue;
      entry.step = 'checking';
      entry.checked = await this.#checker.check(
        { file: entry.file, rules },
        (bytes) => this.#note(entry, bytes),
        own.signal,
      );
      if (own.signal.aborted) return;
      entry.step = 'ready';
      this.#draw();
    }
    if (this.#checking === own) this.#checking = null;
    this.#draw();
  }

  /** Ends the check. The service checks the files again in any case. */
  skipCheck(): void {
    this.#checking?.abort();
    this.#checking = null;
    for (const entry of this.entries.values()) {
      if (entry.step !== 'waiting' && entry.step !== 'checking') continue;
      entry.step = 'ready';
      entry.checked = undefined;
    }
    this.#draw();
  }

  /** Uploads everything that is not uploaded yet. Returns the paths if all files are uploaded, and otherwise null. */
  async upload(folder: string): Promise<readonly string[] | null> {
    const own = new AbortController();
    this.#uploading = own;
    const slots = new Slots(filesAtOnce);
    await Promise.all(
      [...this.entries.values()]
        .filter(({ step }) => step !== 'uploaded')
        .map((entry) => slots.run(() => this.#uploadEntry(entry, folder + entry.file.name, own.signal))),
    );
    this.#uploading = null;
    this.#draw();
    const paths = [...this.entries.values()].flatMap(({ uploaded }) => uploaded?.filePath ?? []);
    return paths.length === this.entries.size ? paths : null;
  }

  pause(): void {
    this.#uploading?.abort();
  }

  /** Forgets the uploads after their files were imported. */
  finish(): void {
    this.memory.forget([...this.entries.values()].flatMap(({ uploaded }) => uploaded?.uploadId ?? []));
  }

  close(): void {
    this.#checking?.abort();
    this.#uploading?.abort();
    this.#checker.close();
    clearTimeout(this.#timer);
  }

  async #uploadEntry(entry: Entry, filePath: string, signalOfJob: AbortSignal): Promise<void> {
    if (signalOfJob.aborted) return;
    entry.step = 'uploading';
    entry.failure = null;
    this.#note(entry, 0);
    const remembered = findRemembered(this.memory.all(), entry.file);
    const resumed = remembered?.requested_path === filePath ? remembered : undefined;
    if (resumed?.is_complete) {
      this.#end(entry, { uploadId: resumed.upload_id, filePath: resumed.file_path });
      return;
    }
    const result = await uploadFile({
      file: entry.file,
      filePath,
      resumed,
      memory: this.memory,
      slots: this.#slots,
      signal: signalOfJob,
      onBytes: (bytes) => this.#note(entry, bytes),
    });
    if ('uploadId' in result) {
      this.#end(entry, result);
      return;
    }
    entry.step = signalOfJob.aborted ? 'ready' : 'failed';
    entry.failure = signalOfJob.aborted ? null : describeFailure(result);
    this.#draw();
  }

  #end(entry: Entry, uploaded: Entry['uploaded']): void {
    entry.step = 'uploaded';
    entry.uploaded = uploaded;
    this.#note(entry, entry.file.size);
  }

  #note(entry: Entry, bytes: number): void {
    entry.bytes = bytes;
    this.#timer ??= setTimeout(() => this.#draw(), drawMs);
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.version.value += 1;
  }
}

function restartCheck(entry: Entry): void {
  if (entry.step !== 'ready' && entry.step !== 'checking') return;
  entry.step = 'waiting';
  entry.checked = undefined;
  entry.bytes = 0;
}

/** A file that cannot be read is found by its check. */
function readStart(file: File): Promise<ArrayBuffer> {
  return file
    .slice(0, 2)
    .arrayBuffer()
    .catch(() => new ArrayBuffer(0));
}
