import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { inject, onTestFinished } from 'vitest';
import { logDirectory } from '../../support/log-directory.ts';
import { launchBrowser } from './launch-browser.ts';

/** All files of a vitest worker process use one browser, which ends with the process. */
let browser: Promise<Browser> | undefined;

/** What a page must not do. `violations` of the content security policy, and `errors` that no code handles. */
type Watched = { readonly violations: string[]; readonly errors: string[] };

export type OpenPage = { readonly page: Page; readonly context: BrowserContext; readonly watched: Watched };

const patience = 30_000;

/** Opens a page in a context of its own, like a new browser. It is closed when the test has finished. */
export async function openPage(options: BrowserContextOptions = {}): Promise<OpenPage> {
  browser ??= launchBrowser();
  const context = await (await browser).newContext({ baseURL: inject('console').url, locale: 'en-US', ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const watched: Watched = { violations: [], errors: [] };
  page.on('pageerror', (error) => void watched.errors.push(error.message));
  page.on('console', (message) => {
    if (/Content[- ]Security[- ]Policy/i.test(message.text())) watched.violations.push(message.text());
  });
  onTestFinished(async ({ task }) => {
    // The picture shows why an element was not found.
    if (task.result?.state === 'fail' && !page.isClosed())
      await page.screenshot({ path: join(logDirectory, `${toFileName(task.name)}.png`), fullPage: true });
    await context.close();
  });
  return { page, context, watched };
}

function toFileName(title: string): string {
  return `console-${title.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 100)}`;
}

/** The text of the element that has the focus. */
export function focusedText(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent.trim() ?? '');
}
