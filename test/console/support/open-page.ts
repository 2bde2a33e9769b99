import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { inject, onTestFinished } from 'vitest';
import { logDirectory } from '../../support/log-directory.ts';
import { launchBrowser } from './launch-browser.ts';

/** All test files in a vitest worker process use one browser, which ends with the process. */
let browser: Promise<Browser> | undefined;

/**
 * Things that a page must not cause: `violations` of the content security policy, and `errors` that no code handles.
 */
type Watched = { readonly violations: string[]; readonly errors: string[] };

export type OpenPage = { readonly page: Page; readonly context: BrowserContext; readonly watched: Watched };

const patience = 30_000;

/** Opens a page in its own context, like a new browser. It is closed when the test has finished. */
export async function openPage(options: BrowserContextOptions = {}): Promise<OpenPage> {
  const opened = await openUnclosedPage(options);
  keepPicture(opened.page);
  onTestFinished(() => opened.context.close());
  return opened;
}

/** Opens a page that several tests use. The caller closes its context. */
export async function openUnclosedPage(options: BrowserContextOptions = {}): Promise<OpenPage> {
  browser ??= launchBrowser();
  const context = await (await browser).newContext({ baseURL: inject('console').url, locale: 'en-US', ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const watched: Watched = { violations: [], errors: [] };
  page.on('pageerror', (error) => void watched.errors.push(error.message));
  page.on('console', (message) => {
    if (/Content[- ]Security[- ]Policy/i.test(message.text())) watched.violations.push(message.text());
  });
  return { page, context, watched };
}

/** If the test fails, a screenshot shows why an element was not found. */
export function keepPicture(page: Page): void {
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail' && !page.isClosed())
      await page.screenshot({ path: join(logDirectory, `${toFileName(task.name)}.png`), fullPage: true });
  });
}

function toFileName(title: string): string {
  return `console-${title.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 100)}`;
}

/** Returns the text of the element that has the focus. */
export function focusedText(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent.trim() ?? '');
}

/** This page does not exist, and the console shows a special heading for it. */
const nowhere = { path: '/console/nowhere', heading: 'This page does not exist' };

/**
 * Follows a link within the console, which does not load the document again. First visits a page that does not exist,
 * so that everything on the next page is new, even if the address is the same.
 */
export async function visit(page: Page, path: string): Promise<void> {
  await followLink(page, nowhere.path);
  await page.waitForFunction((text) => document.querySelector('h1')?.textContent === text, nowhere.heading);
  await followLink(page, path);
  await page.waitForFunction((text) => document.querySelector('h1')?.textContent !== text, nowhere.heading);
}

async function followLink(page: Page, path: string): Promise<void> {
  await page.evaluate((href) => {
    const link = Object.assign(document.createElement('a'), { href });
    document.body.append(link);
    link.click();
    link.remove();
  }, path);
}
