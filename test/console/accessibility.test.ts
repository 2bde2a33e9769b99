import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { findViolations, sidewaysScroll } from './support/find-violations.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { type ConsolePartner, loadReport, newPartner } from './support/partner.ts';
import { readReportTable } from './support/report-table.ts';
import { signInAsOperator, signInWithKey } from './support/sign-in.ts';

const themes = ['light', 'dark'] as const;
/** The narrowest window that WCAG 2.2 requires (1.4.10). */
const narrow = { width: 320, height: 640 };

/** Checks the page that is shown, in both themes and in a narrow window. */
async function expectAccessible(page: Page, what: string): Promise<void> {
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

async function openLoaded(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await waitUntilLoaded(page);
}

const listPaths = [
  '/console/imports',
  '/console/imports/new',
  '/console/audiences',
  '/console/audiences/new',
  '/console/overlap',
  '/console/attributes',
  '/console/keys',
  '/console/customers',
  '/console/subscriptions',
  '/console/webhooks',
  '/console/events',
  '/console/limits',
];

describe('the pages of a partner', () => {
  let partner: ConsolePartner;
  let report: { readonly audienceId: number; readonly segmentId: number };
  let failedImport: number;

  beforeAll(async () => {
    partner = await newPartner();
    report = await loadReport(partner);
    await partner.audiences.create('Failing', 'attributes.csv');
    await partner.upload('bad/1.csv', 'not-an-id,travel\n,travel\n6d92078a-8246-4ba4-ae5b-76104861e7dc,golf\n');
    await partner.upload('bad/2.csv', '6d92078a-8246-4ba4-ae5b-76104861e7dc,travel\nnot-an-id,travel\n');
    failedImport = await partner.api.queue({ file_path: 'bad/', key_type: 1, compressed: false });
    await partner.api.waitForEnd(failedImport);
  });

  async function signedIn(): Promise<{ page: Page; context: BrowserContext }> {
    const opened = await openPage();
    await signInWithKey(opened.context, partner.apiKey);
    return opened;
  }

  it.for(listPaths)('has no accessibility problem at %s', async (path) => {
    const { page } = await signedIn();
    await openLoaded(page, path);
    await expectAccessible(page, path);
  });

  it('has no accessibility problem on the pages of an import', async () => {
    const { page } = await signedIn();
    for (const path of ['', '/errors']) {
      await openLoaded(page, `/console/imports/${failedImport}${path}`);
      await expectAccessible(page, `import${path}`);
    }
  });

  it('has no accessibility problem on the pages of an audience', async () => {
    const { page } = await signedIn();
    for (const path of ['', '/append', '/errors']) {
      await openLoaded(page, `/console/audiences/${report.audienceId}${path}`);
      await expectAccessible(page, `audience${path}`);
    }
  });

  it('has no accessibility problem on the page of a webhook', async () => {
    const created = await partner.api.request('/v1/webhooks', {
      method: 'POST',
      body: JSON.stringify({ url: 'https://hooks.invalid/inlet', description: 'Failing' }),
    });
    const { page } = await signedIn();
    await openLoaded(page, `/console${(created.headers.get('location') ?? '').replace('/v1', '')}`);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('The connection failed').waitFor();
    await expectAccessible(page, 'webhook');
  });

  it('has no accessibility problem on the page of a subscription', async () => {
    const body = { prefix: 'bad/', key_type: 1, compressed: false, existing: 'import' };
    const created = await partner.api.request('/v1/marketplace/subscriptions', {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const { page } = await signedIn();
    await openLoaded(page, `/console${(created.headers.get('location') ?? '').replace('/v1/marketplace', '')}`);
    await page.getByRole('cell', { name: 'Imported' }).first().waitFor();
    await expectAccessible(page, 'subscription');
    await openLoaded(page, '/console/subscriptions');
    await expectAccessible(page, 'subscriptions');
  });

  it('has no accessibility problem on the report, for each split', async () => {
    const { page } = await signedIn();
    for (const query of ['', '?split=country', '?split=id_type', '?split=event']) {
      await openLoaded(page, `/console/segments/${report.segmentId}/composition${query}`);
      await expectAccessible(page, `composition${query}`);
    }
  });

  it('has no accessibility problem on pages of records that do not exist', async () => {
    const { page } = await signedIn();
    for (const path of [
      '/console/imports/999999999',
      '/console/imports/999999999/errors',
      '/console/audiences/999999999',
      '/console/segments/999999999/composition',
      '/console/subscriptions/999999999',
      '/console/webhooks/999999999',
      '/console/nonsense',
    ]) {
      await openLoaded(page, path);
      await expectAccessible(page, path);
    }
  });

  it('has no accessibility problem while the API cannot be reached', async () => {
    const { page, context } = await signedIn();
    for (const name of ['Imports', 'Audiences', 'Attributes', 'Limits']) {
      await openLoaded(page, `/console/${name.toLowerCase()}`);
      await page.getByRole('link', { name: name === 'Limits' ? 'Imports' : 'Limits', exact: true }).click();
      await waitUntilLoaded(page);
      await context.setOffline(true);
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByText('No connection to the API').waitFor();
      await expectAccessible(page, `${name} offline`);
      await context.setOffline(false);
    }
  });
});

describe('the pages of a new partner', () => {
  it('has no accessibility problem on empty pages', async () => {
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    for (const path of listPaths) {
      await openLoaded(page, path);
      await expectAccessible(page, `empty ${path}`);
    }
  });
});

describe('the pages of an operator', () => {
  const paths = ['lanes', 'jobs', 'partners', 'engine', 'backups', 'alerts', 'incidents'];

  it.for(paths)('has no accessibility problem at %s', async (name) => {
    const { page, context } = await openPage();
    await signInAsOperator(context);
    await openLoaded(page, `/console/operator/${name}`);
    await expectAccessible(page, name);
  });

  it('has no accessibility problem on the page of a job', async () => {
    const partner = await newPartner();
    await partner.upload('bad.csv', 'not-an-id,sport\nnot-an-id,sport\n');
    const id = await partner.api.queue({ file_path: 'bad.csv', key_type: 1 });
    await partner.api.waitForEnd(id);
    const { page, context } = await openPage();
    await signInAsOperator(context);
    await openLoaded(page, `/console/operator/jobs/${id}`);
    await expectAccessible(page, 'job');
  });
});

describe('the pages before the sign-in', () => {
  it('has no accessibility problem', async () => {
    const { page } = await openPage();
    for (const path of ['/console/sign-in', '/console/sign-in?error=no_account', '/console/open#wrong']) {
      await openLoaded(page, path);
      await expectAccessible(page, path);
    }
  });
});

describe('the keyboard alone', () => {
  it('finds out why an import failed', async () => {
    const partner = await newPartner();
    await partner.createAttribute('sport', 'sport');
    // In the first line, it would be taken for a header.
    await partner.upload('bad.csv', '6d92078a-8246-4ba4-ae5b-76104861e7dc,sport\nnot-an-id,sport\n');
    await partner.api.waitForEnd(await partner.api.queue({ file_path: 'bad.csv', key_type: 1 }));
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await openLoaded(page, '/console/');
    await page.waitForURL('/console/imports');
    await waitUntilLoaded(page);
    await pressUntil(page, 'Skip to content');
    await page.keyboard.press('Enter');
    await pressUntil(page, /bad\.csv/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'What failed and why' }).waitFor();
    await pressUntil(page, /Show the rejected rows/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Rejected rows' }).waitFor();
    await page.getByRole('cell', { name: 'not-an-id,sport' }).waitFor();
  });

  it('creates an audience from uploaded files, and clears it', async () => {
    const partner = await newPartner();
    await partner.upload('members.csv', rows(0, 10, 'buy'));
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await openLoaded(page, '/console/audiences');
    await pressUntil(page, 'New audience');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New audience' }).waitFor();
    await pressUntil(page, 'Already uploaded');
    await page.keyboard.press('Enter');
    await pressUntil(page, 'Path of a file or folder');
    await page.keyboard.type('members.csv');
    await pressUntil(page, 'Name');
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'By keyboard' }).waitFor();
    await page.getByText('All files are loaded.').waitFor();
    await pressUntil(page, 'Clear …');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await pressUntil(page, 'Clear the audience');
    await page.keyboard.press('Enter');
    await page.getByText('This audience is empty.').waitFor();
    expect(await partner.audiences.list()).toMatchObject([{ name: 'By keyboard', unique_devices: 0 }]);
  });

  it('creates a webhook, tests it, and reads why the test was not delivered', async () => {
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await openLoaded(page, '/console/webhooks');
    await pressUntil(page, 'Create a webhook');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await pressUntil(page, 'URL');
    await page.keyboard.type('https://hooks.invalid/inlet');
    await page.keyboard.press('Enter');
    await page.getByText('Copy it now.').waitFor();
    await pressUntil(page, 'Done');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Nothing has been sent yet' }).waitFor();
    await pressUntil(page, 'Send a test event');
    await page.keyboard.press('Enter');
    await page.getByText('The connection failed').waitFor();
    await pressUntil(page, /^Details/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Event 1' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('reads, sorts, and splits a report', async () => {
    const partner = await newPartner();
    const { segmentId } = await loadReport(partner);
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await openLoaded(page, `/console/segments/${segmentId}/composition`);
    await readReportTable(page);
    await pressUntil(page, /^Split by/);
    await page.keyboard.type('Event');
    await page.waitForURL(/split=event/);
    await pressUntil(page, /^Devices/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/order=devices/);
    expect((await readReportTable(page)).length).toBeGreaterThan(1);
  });
});

/** The most presses of the Tab key that a task may take. */
const maxPresses = 60;

/** Moves the focus with the Tab key to the element with this name. Every element on the way must show its focus. */
async function pressUntil(page: Page, name: string | RegExp): Promise<void> {
  for (let press = 0; press < maxPresses; press += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      if (!(element instanceof HTMLElement) || element === document.body) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const labels =
        element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.labels : null;
      return {
        name: (labels?.[0] ?? element).textContent.trim(),
        isVisible: outlineStyle !== 'none' && outlineWidth !== '0px',
      };
    });
    if (!focused) continue;
    expect(focused.isVisible, `${focused.name} shows its focus`).toBe(true);
    if (typeof name === 'string' ? focused.name === name : name.test(focused.name)) return;
  }
  throw new Error(`the Tab key did not reach ${name}`);
}
