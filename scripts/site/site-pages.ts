import { posix } from 'node:path';

/** Pages of the site that do not stand in docs/, and where they are on the site. */
const pagesFromElsewhere: ReadonlyMap<string, string> = new Map([
  ['README.md', ''],
  ['CONTRIBUTING.md', 'contributing'],
  ['SECURITY.md', 'security'],
  ['packages/sdk/README.md', 'sdk'],
  ['packages/cli/README.md', 'cli'],
  ['deploy/README.md', 'operators/containers'],
  ['deploy/observability/README.md', 'operators/alerts'],
  ['bench/RESULTS.md', 'results'],
]);

/** The address of a file of the tree on the site, without slashes at its ends; null if it is not there. */
export function slugOf(path: string): string | null {
  const elsewhere = pagesFromElsewhere.get(path);
  if (elsewhere !== undefined) return elsewhere;
  const page = /^docs\/(.*)\.md$/.exec(path)?.[1];
  return page === undefined ? null : page.replace(/(^|\/)README$/, '').toLowerCase();
}

export function isPage(path: string): boolean {
  return path !== 'README.md' && slugOf(path) !== null;
}

type SitePage = { readonly file: string; readonly text: string; readonly faults: string[] };

/**
 * A page as Starlight wants it: the title in its front matter, and links that lead to pages of the site. `exists` tells whether a
 * file or folder is in the tree: a link to nothing is a mistake on GitHub too. What is in the tree and not on the site loses
 * its link there and keeps its text.
 */
export function toSitePage(path: string, text: string, exists: (path: string) => boolean): SitePage {
  const faults: string[] = [];
  const title = /^# (.+)\n/.exec(text)?.[1] ?? '';
  if (title === '') faults.push(`${path} does not begin with a title`);
  const body = text
    .slice(text.indexOf('\n') + 1)
    .replaceAll(codeOrLink, (whole: string, image?: string, label: string = '', target: string = '') => {
      if (image !== '' || /^([a-z]+:|#)/.test(target)) return whole;
      const [relative = '', anchor] = target.split('#');
      const file = posix.normalize(posix.join(posix.dirname(path), relative)).replace(/\/$/, '');
      if (!exists(file)) faults.push(`${path} links to ${target}, which is not there`);
      const slug = slugOf(file);
      return slug === null ? label : `[${label}](${addressOf(slug)}${anchor === undefined ? '' : `#${anchor}`})`;
    });
  const slug = slugOf(path) ?? '';
  const frontMatter = `---\ntitle: ${JSON.stringify(title.replaceAll('`', ''))}\n---\n`;
  return { file: `${slug === '' ? 'index' : slug}.md`, text: frontMatter + body, faults };
}

/** A fenced block, code in a line, or a link, whose label may have code in it: whatever comes first. Only links have groups. */
const codeOrLink = /^ *```[\s\S]*?^ *```$|(!?)\[((?:`[^`\n]*`|[^\]])*)\]\(([^)\s]+)\)|`[^`\n]*`/gm;

function addressOf(slug: string): string {
  return slug === '' ? '/' : `/${slug}/`;
}
