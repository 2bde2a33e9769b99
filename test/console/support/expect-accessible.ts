import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { findColorViolations, findViolations, sidewaysScroll } from './find-violations.ts';

/** The narrowest window that WCAG 2.2 requires (1.4.10). */
const narrow = { width: 320, height: 640 };

/** Checks the page in both themes and in a narrow window. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  expect.soft(await findProblems(page), what).toEqual([]);
}

/** As above, but without the narrow window. For a dialog, whose page is checked in one. */
export async function expectAccessibleInThemes(page: Page, what: string): Promise<void> {
  expect.soft(await findProblemsInThemes(page), what).toEqual([]);
}

/** Returns a line for each problem. The narrow window repeats all rules, because other elements are visible in it. */
export async function findProblems(page: Page): Promise<readonly string[]> {
  const wide = page.viewportSize();
  const inThemes = await findProblemsInThemes(page);
  await page.setViewportSize(narrow);
  const pixels = await sidewaysScroll(page);
  const small = await findViolations(page);
  if (wide) await page.setViewportSize(wide);
  return [
    ...inThemes,
    ...(pixels === 0 ? [] : [`narrow: ${pixels} pixels of horizontal scroll`]),
    ...small.map((line) => `narrow: ${line}`),
  ];
}

/** Only colors differ between the themes, so the dark theme repeats only the rules about colors. */
async function findProblemsInThemes(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const light = await findViolations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await findColorViolations(page);
  return [...light.map((line) => `light: ${line}`), ...dark.map((line) => `dark: ${line}`)];
}
