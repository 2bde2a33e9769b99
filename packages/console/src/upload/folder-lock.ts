// Tabs share what the browser remembers about uploads. A lock per folder prevents a tab from resuming or discarding
// files that another tab is uploading. Without locks (in an insecure context), every folder counts as free.

const prefix = 'inlet-upload:';

/** The folders into which other tabs are uploading. */
export async function lockedFolders(): Promise<ReadonlySet<string>> {
  if (!isSecureContext) return new Set();
  const { held = [] } = await navigator.locks.query();
  return new Set(held.flatMap(({ name }) => (name?.startsWith(prefix) ? [name.slice(prefix.length)] : [])));
}

/** Holds the lock of one folder at a time. */
export class FolderLock {
  #folder: string | null = null;
  #release: (() => void) | null = null;

  /** Returns false if another tab is uploading into the folder. */
  async hold(folder: string): Promise<boolean> {
    if (this.#folder === folder || !isSecureContext) return true;
    const acquired = await new Promise<(() => void) | null>((resolve) => {
      void navigator.locks.request(prefix + folder, { ifAvailable: true }, (lock) => {
        if (!lock) return resolve(null);
        return new Promise<void>((release) => resolve(release));
      });
    });
    if (!acquired) return false;
    this.release();
    this.#folder = folder;
    this.#release = acquired;
    return true;
  }

  release(): void {
    this.#release?.();
    this.#folder = null;
    this.#release = null;
  }
}
