/** A part of a file that must be sent. */
export type PlannedPart = { readonly number: number; readonly start: number; readonly end: number };

/** The parts that the storage does not have yet. A stored part with a different size is sent again. */
export function missingParts(
  size: number,
  partBytes: number,
  stored: readonly { readonly part_number: number; readonly bytes: number }[],
): readonly PlannedPart[] {
  const bytesOfPart = new Map(stored.map(({ part_number, bytes }) => [part_number, bytes]));
  const parts = Array.from({ length: Math.max(1, Math.ceil(size / partBytes)) }, (_, index) => ({
    number: index + 1,
    start: index * partBytes,
    end: Math.min(size, (index + 1) * partBytes),
  }));
  return parts.filter(({ number, start, end }) => bytesOfPart.get(number) !== end - start);
}

export const partAttempts = 8;
const firstDelayMs = 500;
const longestDelayMs = 20_000;

/** The delay before the next attempt, with jitter. Null if no attempt is left. */
export function partDelay(attempt: number, random: () => number = Math.random): number | null {
  if (attempt >= partAttempts) return null;
  return Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1)) * (0.5 + random() / 2);
}

/** What to do after the storage has responded to a part. Status 0 means that the connection was lost. */
export function afterPart(status: number): 'done' | 'retry' | 'sign again' | 'give up' {
  if (status >= 200 && status < 300) return 'done';
  // The URL has expired.
  if (status === 403) return 'sign again';
  return status === 0 || status === 408 || status === 429 || status >= 500 ? 'retry' : 'give up';
}

/**
 * A new folder for each upload. An import loads everything in a folder, so nothing else may ever be stored there: `id`
 * makes it unique.
 */
export function newFolder(now: Date, id: string): string {
  return `uploads/${now.toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '')}-${id}/`;
}

/** Whether a folder was created by `newFolder`. Other folders may contain other files. */
export function isUploadFolder(folder: string): boolean {
  return /^uploads\/\d{4}-\d\d-\d\d-\d{6}-[0-9a-f]{12}\/$/.test(folder);
}

/** What to load: the only file, or the folder of all files. */
export function pathToLoad(paths: readonly string[]): string {
  const [first = ''] = paths;
  return paths.length === 1 ? first : first.slice(0, first.lastIndexOf('/') + 1);
}
