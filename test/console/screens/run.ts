import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, BrowserContext } from 'playwright-core';
import { printLine } from '../../chaos/print-line.ts';
import { setup } from '../../support/global-setup.ts';
import { launchBrowser } from '../support/launch-browser.ts';
import { contactSheet, imageName } from './contact-sheet.ts';
import { type Screen, pathsWithoutScreen, screens } from './screens.ts';
import { operatorCookie } from './seed.ts';
import { type ShownService, startShownService } from './service.ts';
import { takeScreenshot, variants } from './take-screenshots.ts';

// Takes a screenshot of every screen of the console from a service with real data, and writes the page that shows them.
// `--only lanes,engine` updates the images of these screens.

const folder = 'docs/images/console';
const page = 'docs/console-screens.md';
const maxBytes = 2_000_000;

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const wanted = values.only?.split(',');

const missing = pathsWithoutScreen(readFileSync('packages/console/src/pages.ts', 'utf8'));
if (missing.length > 0) throw new Error(`Add these pages to test/console/screens/screens.ts: ${missing.join(', ')}`);

run('npm', ['run', '--silent', 'console:build']);
await setup();
const browser = await launchBrowser();
const service = await startShownService();
try {
  if (!wanted) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await takeAll('none');
  await takeAll('link');
  await takeAll('customer');
  await takeAll('partner');
  await service.breakDown();
  await takeAll('operator');
} finally {
  await browser.close();
  await service.stop();
}
writeFileSync(page, contactSheet(screens.filter(hasImages)));
run('npx', ['oxfmt', page]);
const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
printLine(`${folder}: ${bytes} bytes`);
if (bytes > maxBytes) throw new Error(`The images take more than ${maxBytes} bytes. Lower their quality.`);

function hasImages(screen: Screen): boolean {
  return variants.every((variant) => existsSync(join(folder, imageName(screen, variant))));
}

async function takeAll(role: Screen['role']): Promise<void> {
  const context = await openContext(browser, service, role);
  for (const screen of screens.filter((one) => one.role === role && (wanted?.includes(one.name) ?? true))) {
    for (const variant of variants) {
      const url = `${service.url}/console/${screen.path(service.seeded)}`;
      const image = await takeScreenshot(context, url, screen, variant);
      writeFileSync(join(folder, imageName(screen, variant)), image);
    }
  }
  await context.close();
  printLine(`took the screens for ${role}`);
}

async function openContext(
  opened: Browser,
  { url, stores, apiKey, userToken, createLink }: ShownService,
  role: Screen['role'],
): Promise<BrowserContext> {
  const context = await opened.newContext({ locale: 'en-US' });
  if (role === 'operator') await context.addCookies([{ ...(await operatorCookie(stores)), url }]);
  if (role === 'link') {
    const tab = await context.newPage();
    await tab.goto(await createLink());
    await tab.waitForURL(/\/composition$/);
    await tab.close();
  }
  if (role === 'partner' || role === 'customer') {
    const data = { api_key: apiKey, ...(role === 'customer' ? { user_token: userToken } : {}) };
    const answer = await context.request.post(`${url}/console/auth/api-key`, { data });
    if (!answer.ok()) throw new Error(`The sign-in failed: HTTP ${answer.status()} ${await answer.text()}`);
  }
  return context;
}

function run(command: string, parameters: readonly string[]): void {
  const { status } = spawnSync(command, parameters, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')} failed`);
}
