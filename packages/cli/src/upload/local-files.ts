import type { Dirent, Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { wrongUse } from '../failures/cli-failure.ts';
import { pathFailure, systemCodeOf } from '../failures/path-errors.ts';

export type LocalFile = {
  readonly path: string;
  /** The path relative to the given folder, or the base name of a given file. Uses slashes. */
  readonly name: string;
};

/**
 * Lists the given files and the files in the given folders, sorted by name. Calls `note` for each broken link that it
 * skips.
 */
export async function localFiles(paths: readonly string[], note: (text: string) => void): Promise<LocalFile[]> {
  const found: LocalFile[] = [];
  for (const path of paths) {
    const stats = await statPath(path);
    if (stats.isDirectory()) await addFilesIn(path, '', { found, note });
    else if (stats.isFile()) found.push({ path, name: basename(path) });
    else {
      // A pipe has no size and would be treated as an empty file.
      throw wrongUse(`${path} is neither a file nor a folder.`, 'Write its content to a file first.');
    }
  }
  if (found.length === 0)
    throw wrongUse('The folder contains no files.', 'Pass files, or a folder that contains files.');
  return found;
}

type Finding = { readonly found: LocalFile[]; readonly note: (text: string) => void };

/** Skips hidden files. Follows links to files but not to folders. */
async function addFilesIn(folder: string, below: string, finding: Finding): Promise<void> {
  for (const entry of await entriesOf(join(folder, below))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    const path = join(folder, name);
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) await addFilesIn(folder, name, finding);
    else if (entry.isFile() || (entry.isSymbolicLink() && (await pointsToFile(path, finding.note)))) {
      finding.found.push({ path, name });
    }
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw pathFailure(folder, 'read', error, 'Check the permissions of the folder: ls -ld');
  }
}

async function pointsToFile(link: string, note: Finding['note']): Promise<boolean> {
  try {
    return (await stat(link)).isFile();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== 'ENOENT' && code !== 'ELOOP') throw pathFailure(link, 'read', error);
    note(`Skipped ${link}: broken link.`);
    return false;
  }
}

async function statPath(path: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    throw pathFailure(path, 'read', error);
  }
}
