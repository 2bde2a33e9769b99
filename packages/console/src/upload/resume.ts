// What the browser remembers about unfinished uploads, so that they can resume after a reload. A file is recognized by
// its name, size, and modification time, because a page cannot keep the file itself. Files that were uploaded together
// are in one folder, and an import loads the whole folder.

export type Remembered = {
  readonly upload_id: string;
  /** The path that was requested, and the path at which the API stores the file. */
  readonly requested_path: string;
  readonly file_path: string;
  readonly name: string;
  readonly size: number;
  readonly last_modified: number;
  readonly is_gzip: boolean;
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
    ['is_gzip', 'is_complete'].every((field) => typeof fields.get(field) === 'boolean')
  );
}

export function folderOf({ requested_path: path }: Pick<Remembered, 'requested_path'>): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/**
 * Uploads into the folder, except for uploads of the chosen files. Complete uploads will be imported with the chosen
 * files, so the page must show them.
 */
export function othersIn(
  remembered: readonly Remembered[],
  folder: string,
  chosenNames: ReadonlySet<string>,
): { readonly complete: readonly Remembered[]; readonly incomplete: readonly Remembered[] } {
  const others = remembered.filter((entry) => folderOf(entry) === folder && !chosenNames.has(entry.name));
  const complete = others.filter(({ is_complete }) => is_complete);
  const completeNames = new Set(complete.map(({ name }) => name));
  return {
    complete: [...new Map(complete.map((entry) => [entry.name, entry])).values()],
    incomplete: others.filter(({ is_complete, name }) => !is_complete && !completeNames.has(name)),
  };
}

/**
 * Uploads of one account in this browser, in local storage. Each folder has its own key, because only one tab writes to
 * a folder, whereas several tabs that changed the same key would lose changes.
 */
export class UploadMemory {
  readonly #prefix: string;
  /** Folders that could not be stored completely. They are forgotten, because resuming them would miss files. */
  readonly #lost = new Set<string>();
  readonly #parsed = new Map<string, { readonly text: string | null; readonly entries: readonly Remembered[] }>();

  constructor(account: string) {
    this.#prefix = `inlet-uploads:${account}:`;
  }

  all(): readonly Remembered[] {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(this.#prefix))
      .toSorted()
      .flatMap((key) => this.#read(key));
  }

  keep(entry: Remembered): void {
    const folder = folderOf(entry);
    const others = this.#in(folder).filter(({ upload_id }) => upload_id !== entry.upload_id);
    this.#store(folder, [...others, entry]);
  }

  forget(uploadIds: readonly string[]): void {
    const forgotten = this.all().filter(({ upload_id }) => uploadIds.includes(upload_id));
    for (const folder of new Set(forgotten.map(folderOf))) {
      const left = this.#in(folder).filter(({ upload_id }) => !uploadIds.includes(upload_id));
      this.#store(folder, left);
    }
  }

  #in(folder: string): readonly Remembered[] {
    return this.#read(this.#prefix + folder);
  }

  /** Parses the text only once, because the page reads it on every render. */
  #read(key: string): readonly Remembered[] {
    const text = localStorage.getItem(key);
    const known = this.#parsed.get(key);
    if (known?.text === text) return known.entries;
    const entries = parseRemembered(text);
    this.#parsed.set(key, { text, entries });
    return entries;
  }

  #store(folder: string, entries: readonly Remembered[]): void {
    const key = this.#prefix + folder;
    try {
      if (entries.length === 0 || this.#lost.has(folder)) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(entries));
    } catch {
      // The storage is full, so the upload cannot resume after a reload.
      this.#lost.add(folder);
      localStorage.removeItem(key);
    }
  }
}
