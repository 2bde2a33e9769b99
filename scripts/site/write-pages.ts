import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { referencePage } from './reference-page.ts';
import { homePage, isPage, toSitePage } from './site-pages.ts';

const pagesFolder = 'site/src/content/docs';

/** Writes every page to Starlight's content folder, which is not committed. */
export function writePages(): { readonly pages: number; readonly faults: string[] } {
  rmSync(pagesFolder, { recursive: true, force: true });
  const pages = filesOfTree().filter(isPage);
  const faults = pages.flatMap(writePage);
  const reference = referencePage(readFileSync('packages/contract/openapi.json', 'utf8'));
  faults.push(...write(toSitePage('docs/reference.md', reference, existsSync)));
  cpSync('docs/images', join(pagesFolder, 'images'), { recursive: true });
  return { pages: pages.length + 1, faults };
}

/** Returns the problems with the page. */
export function writePage(path: string): string[] {
  const page = toSitePage(path, readFileSync(path, 'utf8'), existsSync);
  return write(
    path === 'docs/README.md' ? { ...page, text: homePage(readFileSync('site/home.md', 'utf8'), page.text) } : page,
  );
}

function write({ file, text, faults }: ReturnType<typeof toSitePage>): string[] {
  const target = join(pagesFolder, file);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  return faults;
}

function filesOfTree(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { encoding: 'utf8' });
  return listed.split('\0').filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
