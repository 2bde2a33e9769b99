// A model of an audience that computes its expected state after any sequence of appends and clears. It implements all
// rules of group B.

/** A file's most recently uploaded content. */
export type ModelFile = {
  /** Pairs of device and event. */
  readonly rows: readonly (readonly [device: string, event: string])[];
  /** Null if every row is valid. */
  readonly flaw: 'row' | 'bytes' | 'empty' | null;
};

/** Keyed by path, relative to the prefix. */
export type ModelFiles = ReadonlyMap<string, ModelFile>;

type ModelEntry = {
  readonly status: 2 | 3;
  readonly rows: number;
  /** For a path that matched no files: the number of appends that had matched files before. */
  readonly matchedBefore?: number;
};

/** One generation of an audience. */
export type ModelAudience = {
  /** Keyed by the path of a file, or by a path that matched no file. */
  readonly entries: Map<string, ModelEntry>;
  /** Paths and contents of the loaded files. */
  readonly ledger: Set<string>;
  /** Pairs of device and event, as `device event`. */
  readonly members: Set<string>;
  uploaded: number;
  /** The number of appends that matched files. */
  matched: number;
};

export function emptyAudience(): ModelAudience {
  return { entries: new Map(), ledger: new Set(), members: new Set(), uploaded: 0, matched: 0 };
}

export function appendFiles(audience: ModelAudience, files: ModelFiles, path: string): void {
  const found = files.has(path) ? [path] : [...files.keys()].filter((key) => key.startsWith(path));
  if (found.length > 0) {
    audience.entries.delete(path);
    audience.matched += 1;
  } else audience.entries.set(path, { status: 3, rows: 0, matchedBefore: audience.matched });
  for (const key of found) {
    const file = files.get(key);
    if (file) loadFile(audience, key, file);
  }
}

function loadFile(audience: ModelAudience, key: string, file: ModelFile): void {
  const { rows, flaw } = file;
  audience.entries.set(key, flaw === null ? { status: 2, rows: rows.length } : { status: 3, rows: 0 });
  const content = JSON.stringify([key, rows]);
  if (flaw !== null || audience.ledger.has(content)) return;
  audience.ledger.add(content);
  audience.uploaded += new Set(rows.map(([device]) => device)).size;
  for (const row of rows) audience.members.add(row.join(' '));
}

/** Decision 5: a path that matched no files counts only until a later append has finished. */
export function statusOf({ entries, matched }: ModelAudience): 2 | 3 {
  const decides = ({ status, matchedBefore = matched }: ModelEntry): boolean =>
    status === 3 && matchedBefore === matched;
  return [...entries.values()].some(decides) ? 3 : 2;
}

export function devicesOf(audience: ModelAudience): Set<string> {
  return new Set(Array.from(audience.members, (member) => member.slice(0, 36)));
}
