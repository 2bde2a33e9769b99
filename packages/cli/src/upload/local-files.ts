import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { wrongUse } from '../failures/cli-failure.ts';

export type LocalFile = {
  readonly path: string;
  /** Its path below the folder that was given; of a file that was given itself, its last part. With slashes. */
  readonly name: string;
};

/** The files that were named, and those in folders that were named, in the order of their names; at least one. */
export async function localFiles(paths: readonly string[]): Promise<LocalFile[]> {
  const found: LocalFile[] = [];
  for (const path of paths) {
    const is = await stat(path).catch((error: unknown) => {
      throw unreadable(path, error);
    });
    if (is.isDirectory()) found.push(...(await filesIn(path, '')));
    else found.push({ path, name: basename(path) });
  }
  if (found.length === 0) throw wrongUse('There is no file in there.', 'Name files, or a folder with files.');
  return found;
}

/** Hidden files are left out: nobody means them. Links to files are followed, links to folders are not. */
async function filesIn(folder: string, below: string): Promise<LocalFile[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const found: LocalFile[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) found.push(...(await filesIn(folder, name)));
    else if (entry.isFile() || (entry.isSymbolicLink() && (await stat(join(folder, name))).isFile())) {
      found.push({ path: join(folder, name), name });
    }
  }
  return found;
}

function unreadable(path: string, error: unknown): Error {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  if (!isMissing) return error instanceof Error ? error : new Error(String(error));
  return wrongUse(`There is no file or folder ${path}.`, 'Check the path: it is one on this machine.');
}
