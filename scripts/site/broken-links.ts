import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Checks that every internal link in a built site points to an existing page and heading. */
export function findBrokenLinks(folder: string): { readonly links: number; readonly broken: string[] } {
  const pages = new Map(
    globSync('**/*.html', { cwd: folder }).map((file) => [`/${file}`, readFileSync(join(folder, file), 'utf8')]),
  );
  const links = [...pages].flatMap(([page, html]) => linksOf(html).map((target) => ({ page, target })));
  const broken = links.filter(({ page, target }) => !leadsSomewhere(folder, pages, page, target));
  return { links: links.length, broken: broken.map(({ page, target }) => `${page} has a broken link: ${target}`) };
}

function linksOf(html: string): string[] {
  const found = [...html.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, target = '']) => target);
  return [...new Set(found)].filter((target) => !/^([a-z]+:|\/\/)/.test(target));
}

function leadsSomewhere(folder: string, pages: ReadonlyMap<string, string>, page: string, target: string): boolean {
  const { pathname, hash } = new URL(target.replaceAll('&amp;', '&'), `http://site${page}`);
  const path = decodeURIComponent(pathname);
  const file = path.endsWith('/') ? posix.join(path, 'index.html') : path;
  const html = pages.get(file);
  if (html === undefined) return existsSync(join(folder, file)) && posix.extname(file) !== '';
  return hash === '' || hash === '#_top' || html.includes(` id="${decodeURIComponent(hash.slice(1))}"`);
}
