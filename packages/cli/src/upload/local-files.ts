import type { Dirent, Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { wrongUse } from '../failures/cli-failure.ts';
import { pathFailure, systemCodeOf } from '../failures/path-errors.ts';

export type LocalFile = {
  readonly path: string;
  /** Its path below the folder that was given; of a file that was given itself, its last part. With slashes. */
  readonly name: string;
};

/**
 * The files that were named, and those in folders that were named, in the order of their names; at least one. `note` is
 * told what is left out although somebody may have meant it.
 */
export async function localFiles(paths: readonly string[], note: (text: string) => void): Promise<LocalFile[]> {
  const found: LocalFile[] = [];
  for (const path of paths) {
    const is = await statPath(path);
    if (is.isDirectory()) await addFilesIn(path, '', { found, note });
    else if (is.isFile()) found.push({ path, name: basename(path) });
    else {
      // A pipe has no size: it would be taken for an empty file.
      throw wrongUse(`${path} is neither a file nor a folder.`, 'Write what comes out of it into a file first.');
    }
  }
  if (found.length === 0) throw wrongUse('There is no file in there.', 'Name files, or a folder with files.');
  return found;
}

type Finding = { readonly found: LocalFile[]; readonly note: (text: string) => void };

/** Hidden files are left out: nobody means them. Links to files are followed, links to folders are not. */
async function addFilesIn(folder: string, below: string, finding: Finding): Promise<void> {
  for (const entry of await entriesOf(join(folder, below))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    const path = join(folder, name);
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) await addFilesIn(folder, name, finding);
    else if (entry.isFile() || (entry.isSymbolicLink() && (await leadsToFile(path, finding.note)))) {
      finding.found.push({ path, name });
    }
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw pathFailure(folder, 'read', error, 'See who may list the folder with: ls -ld');
  }
}

async function leadsToFile(link: string, note: Finding['note']): Promise<boolean> {
  try {
    return (await stat(link)).isFile();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== 'ENOENT' && code !== 'ELOOP') throw pathFailure(link, 'read', error);
    note(`${link} is left out: the link leads nowhere.`);
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
