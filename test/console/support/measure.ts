import type { BrowserContext, Page } from 'playwright-core';

/**
 * Measurements of what a visitor experiences while a page loads. Times are in milliseconds since the navigation
 * started.
 */
export type Vitals = {
  readonly largestContentfulPaint: number;
  /** The sum of the times by which long tasks exceeded 50 ms. */
  readonly totalBlockingTime: number;
  readonly layoutShift: number;
};

type Entries = {
  largest: number;
  blocking: number;
  shift: number;
};

/** Observes every page that the context opens from now on. */
export async function observeVitals(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const seen: Entries = { largest: 0, blocking: 0, shift: 0 };
    Object.assign(globalThis, { vitals: seen });
    const observe = (type: string, add: (entry: PerformanceEntry) => void): void => {
      new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({ type, buffered: true });
    };
    observe('largest-contentful-paint', ({ startTime }) => (seen.largest = startTime));
    observe('longtask', ({ duration }) => (seen.blocking += Math.max(0, duration - 50)));
    observe('layout-shift', (entry) => {
      if ('value' in entry && 'hadRecentInput' in entry && entry.hadRecentInput === false)
        seen.shift += Number(entry.value);
    });
  });
}

/**
 * Opens a page, and waits until nothing is loading. Uses no locators, because Playwright's script for finding elements
 * is 330 kB in size, and compiling it would count as a long task of the page.
 */
export async function openCompletely(page: Page, path: string): Promise<void> {
  await page.goto(path, { waitUntil: 'networkidle' });
  await page.evaluate(async () => {
    while (document.querySelector('[aria-busy="true"]') !== null) await new Promise(requestAnimationFrame);
  });
}

/** Opens a page, and returns what was observed until nothing was loading. */
export async function measureVitals(page: Page, path: string): Promise<Vitals> {
  await openCompletely(page, path);
  const { largest, blocking, shift } = await page.evaluate(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script above has defined it
    () => (globalThis as unknown as { readonly vitals: Entries }).vitals,
  );
  return { largestContentfulPaint: largest, totalBlockingTime: blocking, layoutShift: shift };
}

/** Slows down the page's processor to the speed of a phone. */
export async function slowDown(page: Page, rate: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
}

/** Waits until nothing on the page is loading. Returns the time since the navigation started. */
export async function waitUntilLoaded(page: Page): Promise<number> {
  await page.getByRole('main').getByRole('heading').first().waitFor();
  const handle = await page.waitForFunction(() =>
    document.querySelector('[aria-busy="true"]') === null ? performance.now() : 0,
  );
  return handle.jsonValue();
}
