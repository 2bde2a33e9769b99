import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The rules for the success criteria of WCAG 2.2, levels A and AA, and the best practices of axe-core. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The rules that compare colors. Each of them has one of the tags above. */
const colorRules = ['color-contrast', 'link-in-text-block'];

/** Returns a line for each element that violates a rule. */
export function findViolations(page: Page): Promise<readonly string[]> {
  return violationsOf(page, tags);
}

/** As above, but only for what depends on the theme. */
export function findColorViolations(page: Page): Promise<readonly string[]> {
  return violationsOf(page, colorRules);
}

async function violationsOf(page: Page, rules: readonly string[]): Promise<readonly string[]> {
  // Loading its 550 kB takes longer than running it, so a page that stays open keeps it.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(`${axe.source}; undefined`);
  return page.evaluate(
    async (runOnly) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script has just defined it
      const inPage = (globalThis as unknown as { readonly axe: { readonly run: typeof axe.run } }).axe;
      // Details of rules that are not violated, and copies of style sheets, take time and are not used.
      const { violations } = await inPage.run({ runOnly, resultTypes: ['violations'], preload: false });
      return violations.flatMap(({ id, help, nodes }) =>
        nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 300)}`),
      );
    },
    [...rules],
  );
}

/** How far the page can be scrolled to the side, in pixels. */
export function sidewaysScroll(page: Page): Promise<number> {
  return page.evaluate(() => {
    window.scrollTo(1_000, 0);
    const { scrollX } = window;
    window.scrollTo(0, 0);
    return scrollX;
  });
}
