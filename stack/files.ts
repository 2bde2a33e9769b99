import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Replaces the file atomically. Only the owner can read the file, because it can contain passwords. */
export function writeSecretFile(path: string, text: string): void {
  const temporary = `${path}.${String(process.pid)}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
}

/** Configuration files of one server, by path. */
export type ConfigFiles = ReadonlyMap<string, string>;

/** Returns false if the files on disk differ. The server must then restart with the new configuration. */
export function areCurrent(files: ConfigFiles): boolean {
  return [...files].every(([path, text]) => readIfExists(path) === text);
}

export function writeConfigFiles(files: ConfigFiles): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // The file is written in place to preserve its owner, which may be the user postgres.
    writeFileSync(path, text, { mode: 0o600 });
  }
}
