import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { findViolations, sidewaysScroll } from './find-violations.ts';

const themes = ['light', 'dark'] as const;
/** The narrowest window that WCAG 2.2 requires (1.4.10). */
const narrow = { width: 320, height: 640 };

/** Checks what the page shows, in both themes and in a narrow window. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect.soft(await findViolations(page), `${what}, ${colorScheme}`).toEqual([]);
  }
  const wide = page.viewportSize();
  await page.setViewportSize(narrow);
  expect.soft(await sidewaysScroll(page), `${what}: pixels of horizontal scroll`).toBe(0);
  expect.soft(await findViolations(page), `${what}, narrow`).toEqual([]);
  if (wide) await page.setViewportSize(wide);
}
