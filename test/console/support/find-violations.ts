import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The rules for the success criteria of WCAG 2.2, levels A and AA, and the best practices of axe-core. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Returns a line for each element that violates a rule. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  // Its 550 kB take a quarter of a second each time.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async (runOnly) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script has just defined it
    const inPage = (globalThis as unknown as { readonly axe: { readonly run: typeof axe.run } }).axe;
    const { violations } = await inPage.run({ runOnly });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 300)}`),
    );
  }, tags);
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
