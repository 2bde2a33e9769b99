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

/** One generation of an audience. */
export type ModelAudience = {
  /** Keyed by the path of a file, or by a path that matched no file. */
  readonly entries: Map<string, { readonly status: 2 | 3; readonly rows: number }>;
  /** Paths and contents of the loaded files. */
  readonly ledger: Set<string>;
  /** Pairs of device and event, as `device event`. */
  readonly members: Set<string>;
  uploaded: number;
};

export function emptyAudience(): ModelAudience {
  return { entries: new Map(), ledger: new Set(), members: new Set(), uploaded: 0 };
}

export function appendFiles(audience: ModelAudience, files: ModelFiles, path: string): void {
  const found = files.has(path) ? [path] : [...files.keys()].filter((key) => key.startsWith(path));
  if (found.length > 0) audience.entries.delete(path);
  else audience.entries.set(path, { status: 3, rows: 0 });
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

export function devicesOf(audience: ModelAudience): Set<string> {
  return new Set(Array.from(audience.members, (member) => member.slice(0, 36)));
}
