import { posix } from 'node:path';

/** Pages of the site that are not in docs/, with their addresses on the site. */
const pagesFromElsewhere: ReadonlyMap<string, string> = new Map([
  ['README.md', ''],
  ['CHANGELOG.md', 'changelog'],
  ['CONTRIBUTING.md', 'contributing'],
  ['SECURITY.md', 'security'],
  ['packages/sdk/README.md', 'sdk'],
  ['packages/cli/README.md', 'cli'],
  ['deploy/README.md', 'operators/containers'],
  ['deploy/observability/README.md', 'operators/alerts'],
  ['bench/RESULTS.md', 'results'],
]);

/**
 * Returns the address of a repository file on the site, without leading and trailing slashes, or null if the file is
 * not on the site.
 */
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
 * Converts a page to Starlight's format, with the title in the front matter and links to pages of the site. `exists`
 * returns whether a file or folder is in the repository. A link to a missing file is broken on GitHub too. A link to a
 * file that is not on the site becomes plain text.
 */
export function toSitePage(path: string, text: string, exists: (path: string) => boolean): SitePage {
  const faults: string[] = [];
  const title = /^# (.+)\n/.exec(text)?.[1] ?? '';
  if (title === '') faults.push(`${path} does not start with a title`);
  const body = text
    .slice(text.indexOf('\n') + 1)
    .replaceAll(codeOrLink, (whole: string, image?: string, label: string = '', target: string = '') => {
      if (image !== '' || /^([a-z]+:|#)/.test(target)) return whole;
      const [relative = '', anchor] = target.split('#');
      const file = posix.normalize(posix.join(posix.dirname(path), relative)).replace(/\/$/, '');
      if (!exists(file)) faults.push(`${path} links to ${target}, which does not exist`);
      const slug = slugOf(file);
      return slug === null ? label : `[${label}](${addressOf(slug)}${anchor === undefined ? '' : `#${anchor}`})`;
    });
  const slug = slugOf(path) ?? '';
  const frontMatter = `---\ntitle: ${JSON.stringify(title.replaceAll('`', ''))}\n---\n`;
  const ranked = path.startsWith('docs/decisions/') ? rankedLower(body) : body;
  return { file: `${slug === '' ? 'index' : slug}.md`, text: frontMatter + ranked, faults };
}

/**
 * Makes search rank decision records below the guides, because a reader who searches for a task wants the guide, not
 * the reasons.
 */
function rankedLower(body: string): string {
  return `\n<div data-pagefind-weight="0.2">\n${body}\n</div>\n`;
}

/**
 * Builds the home page from site/home.md (front matter, pitch, and cards) and the list of pages in docs/README.md,
 * without its introduction.
 */
export function homePage(home: string, index: string): string {
  const body = index.slice(index.indexOf('\n') + 1);
  return `${home.trimEnd()}\n\n${body.slice(body.indexOf('## '))}`;
}

/**
 * Matches a fenced block, inline code, or a link whose label may contain code. Only the alternative for links has
 * groups.
 */
const codeOrLink = /^ *```[\s\S]*?^ *```$|(!?)\[((?:`[^`\n]*`|[^\]])*)\]\(([^)\s]+)\)|`[^`\n]*`/gm;

function addressOf(slug: string): string {
  return slug === '' ? '/' : `/${slug}/`;
}
