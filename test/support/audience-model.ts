// A model of an audience that computes its expected state after any sequence of appends and clears. It implements all
// rules for audiences.

/** A file's most recently uploaded content. */
export type ModelFile = {
  /** Pairs of device and event. */
  readonly rows: readonly (readonly [device: string, event: string])[];
  /** Null if every row is valid. */
  readonly flaw: 'row' | 'bytes' | 'empty' | null;
};

/** Keyed by path, relative to the prefix. */
export type ModelFiles = ReadonlyMap<string, ModelFile>;

type FailedEntry = {
  /** For a path that matched no files: the number of earlier appends that matched files. */
  readonly matchedBefore?: number;
  isDismissed: boolean;
};

/** One generation of an audience. */
export type ModelAudience = {
  /** Keyed by the path of a file, or by a path that matched no file. */
  readonly failed: Map<string, FailedEntry>;
  /** The loaded versions of files, keyed by path and content. */
  readonly loaded: Map<string, { readonly path: string; readonly rows: number }>;
  /** Pairs of device and event, as `device event`. */
  readonly members: Set<string>;
  uploaded: number;
  /** The number of appends that matched files. */
  matched: number;
};

export function emptyAudience(): ModelAudience {
  return { failed: new Map(), loaded: new Map(), members: new Set(), uploaded: 0, matched: 0 };
}

export function appendFiles(audience: ModelAudience, files: ModelFiles, path: string): void {
  const found = files.has(path) ? [path] : [...files.keys()].filter((key) => key.startsWith(path));
  if (found.length > 0) {
    audience.failed.delete(path);
    audience.matched += 1;
  } else audience.failed.set(path, { matchedBefore: audience.matched, isDismissed: false });
  for (const key of found) {
    const file = files.get(key);
    if (file) loadFile(audience, key, file);
  }
}

function loadFile(audience: ModelAudience, key: string, file: ModelFile): void {
  const { rows, flaw } = file;
  if (flaw !== null) {
    audience.failed.set(key, { isDismissed: false });
    return;
  }
  audience.failed.delete(key);
  const content = JSON.stringify([key, rows]);
  if (audience.loaded.has(content)) return;
  audience.loaded.set(content, { path: key, rows: rows.length });
  audience.uploaded += new Set(rows.map(([device]) => device)).size;
  for (const row of rows) audience.members.add(row.join(' '));
}

/** Decision 5: a path that matched no files counts only until a later append has finished. A dismissed entry never counts. */
export function statusOf({ failed, matched }: ModelAudience): 2 | 3 {
  const decides = ({ isDismissed, matchedBefore = matched }: FailedEntry): boolean =>
    !isDismissed && matchedBefore === matched;
  return [...failed.values()].some(decides) ? 3 : 2;
}

/** Every entry of the file list, as path, status, and rows. */
export function entriesOf({ failed, loaded }: ModelAudience): (readonly [path: string, status: 2 | 3, rows: number])[] {
  return [
    ...Array.from(failed.keys(), (path) => [path, 3, 0] as const),
    ...Array.from(loaded.values(), ({ path, rows }) => [path, 2, rows] as const),
  ];
}

export function devicesOf(audience: ModelAudience): Set<string> {
  return new Set(Array.from(audience.members, (member) => member.slice(0, 36)));
}
