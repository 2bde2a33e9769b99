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

/** An export fails after this many attempts, for example because its worker was killed each time. */
export const maxExportAttempts = 10;

export function folderOfImport(prefix: string, importLogId: number): string {
  return `${prefix}${rejectsFolder}${importLogId}/`;
}

export function folderOfAudienceFile(prefix: string, audienceId: number, fileId: number): string {
  return `${prefix}${rejectsFolder}audiences/${audienceId}/${fileId}/`;
}

/** The object keeps the path of the file, unless the key would be too long. */
export function keyOfRejects(
  folder: string,
  { path, fileId }: { readonly path: string; readonly fileId: number },
): string {
  const key = `${folder}${path}.csv.gz`;
  return isKeyTooLong(key) ? `${folder}${fileId}.csv.gz` : key;
}

/** Whether an import of this path must skip the object. The path and the key include the partner's prefix. */
export function isSkippedRejects(prefix: string, importedPath: string, key: string): boolean {
  const folder = prefix + rejectsFolder;
  return key.startsWith(folder) && !importedPath.startsWith(folder);
}
