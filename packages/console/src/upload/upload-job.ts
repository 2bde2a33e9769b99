import { signal } from '@preact/signals';
import { api } from '../api.ts';
import { startTask } from '../idle.ts';
import { startsLikeGzip } from '@inlet/row-rule/file-rule';
import type { CheckRules } from './check-file.ts';
import { describeFailure } from './describe-upload.ts';
import type { Entry } from './entry.ts';
import { FolderLock, lockedFolders } from './folder-lock.ts';
import { isUploadFolder, newFolder } from './plan.ts';
import { type Remembered, type UploadMemory, findRemembered, folderOf, isOf, othersIn } from './resume.ts';
import { Checker } from './run-check.ts';
import { Slots } from './slots.ts';
import { discardUpload, uploadFile } from './upload-file.ts';

const partsAtOnce = 3;
const filesAtOnce = 3;
/** How often the page is rendered while bytes are checked or sent. */
const drawMs = 100;

/** Keeps the session from ending while the user waits for an upload. */
const keepAliveMs = 5 * 60_000;

/**
 * The files of one form: chosen, checked, and uploaded. They are stored in one folder, and everything in it is imported.
 * Therefore, the folder contains nothing but `entries` and `earlier`, which the page shows.
 */
export class UploadJob {
  /** Changes when the page must be rendered again. Entries are changed in place, because there can be 10,000. */
  readonly version = signal(0);
  readonly entries = new Map<string, Entry>();
  readonly memory: UploadMemory;
  readonly #lock = new FolderLock();
  readonly #checker = new Checker();
  readonly #slots = new Slots(partsAtOnce);
  #checking: AbortController | null = null;
  #uploading: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #folder = newUploadFolder();
  /** Names of the files that this page may have stored in the folder. */
  readonly #sent = new Set<string>();
  #changes = 0;
  #lockedFolders: ReadonlySet<string> = new Set();

  constructor(memory: UploadMemory) {
    this.memory = memory;
    void this.#readLocks();
  }

  get folder(): string {
    return this.#folder;
  }

  /** Files that an interrupted upload has stored in the folder. They are imported too. */
  get earlier(): readonly Remembered[] {
    return this.#others().complete;
  }

  /** Interrupted uploads that the user can resume by choosing their files again. */
  get interrupted(): readonly Remembered[] {
    const own = new Set(this.#others().incomplete.map(({ upload_id }) => upload_id));
    return this.memory
      .all()
      .filter((entry) => own.has(entry.upload_id) || (folderOf(entry) !== this.#folder && this.#isResumable(entry)));
  }

  get isChecking(): boolean {
    return this.#checking !== null;
  }

  /** Whether the uploads of removed files are being abandoned. The folder can change until then. */
  get isChanging(): boolean {
    return this.#changes > 0;
  }

  get isUploading(): boolean {
    return this.#uploading !== null;
  }

  /** Adds files. A file replaces an earlier one with the same name, because both would have the same path. */
  async add(files: readonly File[]): Promise<void> {
    await this.#readLocks();
    const remembered = this.memory.all().filter((entry) => this.#isResumable(entry));
    await this.#resumeFolder(files.flatMap((file) => findRemembered(remembered, file) ?? []));
    for (const file of files) {
      const isGzip = startsLikeGzip(new Uint8Array(await readStart(file)));
      const resumed = remembered.find((entry) => folderOf(entry) === this.#folder && isOf(entry, file));
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

  /** Removes files. If one of them may already be stored, the others are uploaded to a new folder. */
  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) this.entries.delete(name);
    this.#draw();
    const started = this.memory
      .all()
      .filter(({ requested_path: path }) => names.some((n) => path === this.#folder + n));
    // Without its record, for example because the browser stores nothing, an upload cannot be abandoned.
    const isUnknown = names.some((n) => this.#sent.has(n) && started.every(({ name }) => name !== n));
    if (isUnknown) this.startOver();
    else await this.#giveUp(started);
  }

  /**
   * Starts a new folder for the chosen files, so that only these files are imported, and not those of an interrupted
   * upload.
   */
  startOver(): void {
    this.memory.forget(this.#uploadsIn(this.#folder).map(({ upload_id }) => upload_id));
    this.#lock.release();
    this.#folder = newUploadFolder();
    this.#sent.clear();
    // Changed in place, because a check in progress writes its result to the entry.
    for (const entry of this.entries.values()) {
      const step = entry.step === 'uploaded' || entry.step === 'failed' ? 'ready' : entry.step;
      Object.assign(entry, {
        resumed: undefined,
        step,
        bytes: 0,
        failure: null,
        uploaded: null,
      } satisfies Partial<Entry>);
    }
    this.#draw();
  }

  /** Abandons the interrupted uploads. */
  async discard(): Promise<void> {
    await this.#giveUp(this.interrupted);
  }

  /** Checks the files that are waiting. With `isAgain`, checks all files, because the rules have changed. */
  async check(rules: CheckRules, isAgain: boolean): Promise<void> {
    this.#checking?.abort();
    const own = new AbortController();
    this.#checking = own;
    for (const entry of this.entries.values())
      // The check that this one replaces has left a file only partly checked.
      if (entry.step === 'checking' || (isAgain && entry.step === 'ready')) restartCheck(entry);
    for (const entry of this.entries.values()) {
      if (own.signal.aborted) return;
      if (entry.step !== 'waiting') continue;
      entry.step = 'checking';
      const checked = await this.#checker.check(
        { file: entry.file, rules },
        (bytes) => this.#note(entry, bytes),
        own.signal,
      );
      // A check that was stopped has no result, and another one may have started.
      if (own.signal.aborted) return;
      entry.checked = checked;
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

  /**
   * Uploads everything that has not been uploaded yet. Returns the paths of all files in the folder, or null if a file
   * is missing, or if there is a file that the page has not shown yet.
   */
  async upload(): Promise<readonly string[] | null> {
    const own = new AbortController();
    this.#uploading = own;
    this.#draw();
    const endTask = startTask();
    const keepAlive = setInterval(() => void api.getLimits(), keepAliveMs);
    const shown = this.earlier.length;
    try {
      // Another tab may have resumed the same upload in the meantime.
      if (!(await this.#lock.hold(this.#folder))) this.startOver();
      await this.#lock.hold(this.#folder);
      await this.#uploadEntries(own.signal);
      const isComplete = [...this.entries.values()].every(({ step }) => step === 'uploaded');
      // An upload whose file was not chosen again may have been completed without this page noticing.
      if (!isComplete) return null;
      if ((await this.#settle(this.#others().incomplete)).unknown.length > 0) this.startOver();
      if (this.earlier.length !== shown) return null;
    } finally {
      endTask();
      clearInterval(keepAlive);
      this.#uploading = null;
      this.#draw();
    }
    const uploaded = [...this.entries.values()].flatMap((entry) => entry.uploaded?.filePath ?? []);
    if (uploaded.length !== this.entries.size) return null;
    return [...uploaded, ...this.earlier.map(({ file_path }) => file_path)];
  }

  async #uploadEntries(signalOfJob: AbortSignal): Promise<void> {
    const slots = new Slots(filesAtOnce);
    await Promise.all(
      [...this.entries.values()]
        .filter(({ step }) => step !== 'uploaded')
        .map((entry) => slots.run(() => this.#uploadEntry(entry, this.#folder + entry.file.name, signalOfJob))),
    );
  }

  pause(): void {
    this.#uploading?.abort();
  }

  /** Forgets the uploads after their files were imported. */
  finish(): void {
    this.memory.forget(this.#uploadsIn(this.#folder).map(({ upload_id }) => upload_id));
  }

  close(): void {
    this.#checking?.abort();
    this.#uploading?.abort();
    this.#checker.close();
    this.#lock.release();
    clearTimeout(this.#timer);
  }

  #uploadsIn(folder: string): readonly Remembered[] {
    return this.memory.all().filter((entry) => folderOf(entry) === folder);
  }

  #others(): ReturnType<typeof othersIn> {
    return othersIn(this.memory.all(), this.#folder, new Set(this.entries.keys()));
  }

  #isResumable(entry: Remembered): boolean {
    const folder = folderOf(entry);
    return isUploadFolder(folder) && (folder === this.#folder || !this.#lockedFolders.has(folder));
  }

  async #readLocks(): Promise<void> {
    this.#lockedFolders = await lockedFolders();
    this.#draw();
  }

  /** Continues in the folder of an interrupted upload, unless this upload has already stored something in its own. */
  async #resumeFolder(found: readonly Remembered[]): Promise<void> {
    const [first] = found;
    if (!first || this.#uploadsIn(this.#folder).length > 0) return;
    if (await this.#lock.hold(folderOf(first))) this.#folder = folderOf(first);
  }

  /** Abandons uploads in this folder or others. */
  async #giveUp(uploads: readonly Remembered[]): Promise<void> {
    this.#changes += 1;
    this.#draw();
    const { stored, unknown } = await this.#settle(uploads);
    this.memory.forget(uploads.map(({ upload_id }) => upload_id));
    if ([...stored, ...unknown].some((entry) => folderOf(entry) === this.#folder)) this.startOver();
    this.#changes -= 1;
    this.#draw();
  }

  /** Aborts uploads. Uploads that were already completed are remembered as complete. */
  async #settle(
    uploads: readonly Remembered[],
  ): Promise<{ readonly stored: readonly Remembered[]; readonly unknown: readonly Remembered[] }> {
    const stored: Remembered[] = [];
    const unknown: Remembered[] = [];
    for (const entry of uploads) {
      const outcome = entry.is_complete ? 'stored' : await discardUpload(entry);
      if (outcome === 'gone') this.memory.forget([entry.upload_id]);
      if (outcome === 'stored') stored.push(entry);
      if (outcome === 'unknown') unknown.push(entry);
    }
    for (const entry of stored) this.memory.keep({ ...entry, is_complete: true });
    return { stored, unknown };
  }

  async #uploadEntry(entry: Entry, filePath: string, signalOfJob: AbortSignal): Promise<void> {
    if (signalOfJob.aborted) return;
    entry.step = 'uploading';
    entry.failure = null;
    this.#sent.add(entry.file.name);
    this.#note(entry, 0);
    const resumed = this.memory
      .all()
      .find((remembered) => remembered.requested_path === filePath && isOf(remembered, entry.file));
    if (resumed?.is_complete) {
      this.#end(entry, { uploadId: resumed.upload_id, filePath: resumed.file_path });
      return;
    }
    const result = await uploadFile({
      file: entry.file,
      isGzip: entry.isGzip,
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

function newUploadFolder(): string {
  return newFolder(new Date(), crypto.randomUUID().slice(-12));
}

function restartCheck(entry: Entry): void {
  entry.step = 'waiting';
  entry.checked = undefined;
  entry.bytes = 0;
}

/** The check detects a file that cannot be read. */
function readStart(file: File): Promise<ArrayBuffer> {
  return file
    .slice(0, 2)
    .arrayBuffer()
    .catch(() => new ArrayBuffer(0));
}
