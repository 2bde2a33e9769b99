// What the browser remembers of unfinished uploads, so that they resume after a reload. A file is recognized by its
// name, size, and time of change, because a page cannot keep the file itself.

export type Remembered = {
  readonly upload_id: string;
  /** The path that was asked for, and the path at which the API stores the file. */
  readonly requested_path: string;
  readonly file_path: string;
  readonly name: string;
  readonly size: number;
  readonly last_modified: number;
  /** Whether the storage has the whole file. It is remembered until the files are imported. */
  readonly is_complete: boolean;
};

export type LocalFile = Pick<File, 'name' | 'size' | 'lastModified'>;

export function findRemembered(remembered: readonly Remembered[], file: LocalFile): Remembered | undefined {
  return remembered.find((entry) => isOf(entry, file));
}

export function isOf({ name, size, last_modified }: Remembered, file: LocalFile): boolean {
  return name === file.name && size === file.size && last_modified === file.lastModified;
}

/** Reads stored entries. Ignores what another version of the page may have stored. */
export function parseRemembered(text: string | null): readonly Remembered[] {
  if (text === null) return [];
  try {
    const stored: unknown = JSON.parse(text);
    return Array.isArray(stored) ? stored.filter(isRemembered) : [];
  } catch {
    return [];
  }
}

function isRemembered(entry: unknown): entry is Remembered {
  if (typeof entry !== 'object' || entry === null) return false;
  const fields = new Map<string, unknown>(Object.entries(entry));
  return (
    ['upload_id', 'requested_path', 'file_path', 'name'].every((field) => typeof fields.get(field) === 'string') &&
    ['size', 'last_modified'].every((field) => typeof fields.get(field) === 'number') &&
    typeof fields.get('is_complete') === 'boolean'
  );
}

/** The folder of an unfinished upload, so that the files that are chosen again go to the same place. */
export function folderOf(filePath: string): string {
  return filePath.slice(0, filePath.lastIndexOf('/') + 1);
}

/** Uploads of one account in this browser, in local storage. */
export class UploadMemory {
  readonly #key: string;

  constructor(account: string) {
    this.#key = `inlet-uploads:${account}`;
  }

  all(): readonly Remembered[] {
    return parseRemembered(localStorage.getItem(this.#key));
  }

  keep(entry: Remembered): void {
    this.#store([...this.all().filter(({ upload_id }) => upload_id !== entry.upload_id), entry]);
  }

  forget(uploadIds: readonly string[]): void {
    this.#store(this.all().filter(({ upload_id }) => !uploadIds.includes(upload_id)));
  }

  #store(entries: readonly Remembered[]): void {
    try {
      if (entries.length === 0) localStorage.removeItem(this.#key);
      else localStorage.setItem(this.#key, JSON.stringify(entries));
    } catch {
      // A full or disabled storage only means that the upload cannot resume after a reload.
    }
  }
}
