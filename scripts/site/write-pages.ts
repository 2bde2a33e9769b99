import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPage, toSitePage } from './site-pages.ts';

const pagesFolder = 'site/src/content/docs';

/** Writes every page to where Starlight looks for it. Nothing of that folder is committed. */
export function writePages(): { readonly pages: number; readonly faults: string[] } {
  rmSync(pagesFolder, { recursive: true, force: true });
  const pages = filesOfTree().filter(isPage);
  const faults = pages.flatMap(writePage);
  cpSync('docs/images', join(pagesFolder, 'images'), { recursive: true });
  return { pages: pages.length, faults };
}

/** Gives what is wrong with the page, if something is. */
export function writePage(path: string): string[] {
  const { file, text, faults } = toSitePage(path, readFileSync(path, 'utf8'), existsSync);
  const target = join(pagesFolder, file);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  return faults;
}

function filesOfTree(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { encoding: 'utf8' });
  return listed.split('\0').filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
