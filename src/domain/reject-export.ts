import { isKeyTooLong } from './source-file.ts';

// An export reads the files of a finished import again and writes every rejected row to the shared bucket.

/**
 * The folder of all exports, below the partner's prefix. An import skips the objects in this folder unless its path names
 * the folder.
 */
const rejectsFolder = 'rejects/';

/** How long the objects of a finished export are kept. */
export const exportDays = 7;

/** The objects can be downloaded with a URL that is valid for this long. */
export const downloadUrlSeconds = 3_600;

/** Exports of one partner that are waiting or running. They run one at a time. */
export const maxOpenExports = 10;

/**
 * After this time, an export lets the exports of other partners go first as soon as its current file is complete. A
 * turn is long compared with the time to claim an export and to create its tables.
 */
export const exportTurnMs = 10_000;

/** An export fails after this many attempts, for example because its worker was killed each time. */
export const maxExportAttempts = 10;

/**
 * Until this time has passed since the request, attempts that fail because a dependency is unavailable do not count.
 * Loads wait about as long.
 */
export const maxExportWaitSeconds = 24 * 3_600;

export function folderOfImport(prefix: string, importLogId: number): string {
  return `${prefix}${rejectsFolder}${importLogId}/`;
}

export function folderOfAudienceFile(prefix: string, audienceId: number, fileId: number): string {
  return `${prefix}${rejectsFolder}audiences/${audienceId}/${fileId}/`;
}

type RejectsOf = { readonly path: string; readonly fileId: number };

/**
 * The object keeps the path of the file, unless the key would be too long. Each attempt has its own folder, so that a
 * worker that has lost its claim cannot overwrite or delete the objects of a later attempt.
 */
export function keyOfRejects(folder: string, attempt: number, { path, fileId }: RejectsOf): string {
  const key = `${folder}${attempt}/${path}.csv.gz`;
  return isKeyTooLong(key) ? `${folder}${attempt}/${fileId}.csv.gz` : key;
}

/** Distinguishes the objects of earlier attempts from other objects in the folder, which belong to the partner. */
export function earlierRejects(folder: string, attempt: number, files: readonly RejectsOf[]): (key: string) => boolean {
  const names = new Set(files.flatMap(({ path, fileId }) => [`${path}.csv.gz`, `${fileId}.csv.gz`]));
  return (key) => {
    const found = key.startsWith(folder) ? /^([1-9]\d*)\/(.+)$/s.exec(key.slice(folder.length)) : null;
    return found !== null && Number(found[1]) < attempt && names.has(found[2] ?? '');
  };
}

/** Whether an import of this path must skip the object. The path and the key include the partner's prefix. */
export function isSkippedRejects(prefix: string, importedPath: string, key: string): boolean {
  const folder = prefix + rejectsFolder;
  return key.startsWith(folder) && !importedPath.startsWith(folder);
}
