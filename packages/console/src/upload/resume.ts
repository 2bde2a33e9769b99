// What the browser remembers of unfinished uploads, so that they resume after a reload. A file is recognized by its
// name, size, and time of change, because a page cannot keep the file itself. Files that were uploaded together are in one
// folder, and an import loads the whole folder.

export type Remembered = {
  readonly upload_id: string;
  /** The path that was asked for, and the path at which the API stores the file. */
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
 * Uploads into the folder, except for those of the chosen files. Those that are complete will be imported with the chosen
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
