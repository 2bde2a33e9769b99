import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Readers see the old text or the new one, never half of it. Only for our own eyes: it may hold passwords. */
export function writeSecretFile(path: string, text: string): void {
  const temporary = `${path}.${String(process.pid)}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
}

/** Configuration files of one server, by path. */
export type ConfigFiles = ReadonlyMap<string, string>;

/** A server whose files on disk differ runs with another configuration than the one wanted: it has to start anew. */
export function areCurrent(files: ConfigFiles): boolean {
  return [...files].every(([path, text]) => readIfThere(path) === text);
}

export function writeConfigFiles(files: ConfigFiles): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Written in place, so that a file that belongs to user postgres still does afterwards.
    writeFileSync(path, text, { mode: 0o600 });
  }
}
