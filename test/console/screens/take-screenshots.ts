import type { BrowserContext, Page } from 'playwright-core';
import type { Screen } from './screens.ts';

export const variants = [
  { name: 'light', colorScheme: 'light', width: 1200, maxHeight: 1000 },
  { name: 'dark', colorScheme: 'dark', width: 1200, maxHeight: 1000 },
  { name: 'narrow', colorScheme: 'light', width: 390, maxHeight: 1400 },
] as const;

export type Variant = (typeof variants)[number];

/** With this quality, text stays readable, and most images are 15 to 20 kB in size. */
const quality = 42;
const scale = 0.8;

/** Opens a page in the given variant and returns a WebP image of it, up to the maximum height. */
export async function takeScreenshot(
  context: BrowserContext,
  url: string,
  { press, shows }: Pick<Screen, 'press' | 'shows'>,
  variant: Variant,
): Promise<Buffer> {
  const page = await context.newPage();
  try {
    await page.setViewportSize({ width: variant.width, height: 800 });
    await page.emulateMedia({ colorScheme: variant.colorScheme, reducedMotion: 'reduce' });
    await page.goto(url);
    await settle(page);
    if (press !== undefined) {
      await page.getByRole('button', { name: press }).click();
      await settle(page);
    }
    if (shows !== undefined) await page.getByText(shows).waitFor();
    return await capture(page, variant);
  } finally {
    await page.close();
  }
}

/** Waits until the page has its heading and no part of it is loading. */
async function settle(page: Page): Promise<void> {
  const nothingLoads = page.locator('[aria-busy=true]').first();
  await page.locator('h1').waitFor();
  await nothingLoads.waitFor({ state: 'detached' });
  await page.waitForTimeout(300);
  // The content that has arrived can contain parts that are still to be loaded.
  await nothingLoads.waitFor({ state: 'detached' });
}

/** Playwright writes only PNG and JPEG. WebP takes a third of the space. */
async function capture(page: Page, { maxHeight }: Variant): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { cssContentSize, cssLayoutViewport } = await session.send('Page.getLayoutMetrics');
  // The backdrop of a dialog covers the viewport only.
  const hasDialog = (await page.getByRole('dialog').count()) > 0;
  const shownHeight = hasDialog ? cssLayoutViewport.clientHeight : cssContentSize.height;
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality,
    captureBeyondViewport: true,
    // Removes the space that the page reserves for a scroll bar.
    clip: { x: 0, y: 0, width: cssLayoutViewport.clientWidth, height: Math.min(maxHeight, shownHeight), scale },
  });
  return Buffer.from(data, 'base64');
}
