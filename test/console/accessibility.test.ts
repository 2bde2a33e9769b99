import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rows } from '../support/file-rows.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { expectAccessible, findProblems } from './support/expect-accessible.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { type OpenPage, focusedText, keepPicture, openPage, openUnclosedPage, visit } from './support/open-page.ts';
import { type ConsolePartner, loadReport, newPartner } from './support/partner.ts';
import { readReportTable } from './support/report-table.ts';
import { signInAsOperator, signInWithKey } from './support/sign-in.ts';

async function openLoaded(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await waitUntilLoaded(page);
}

async function visitLoaded(page: Page, path: string): Promise<void> {
  await visit(page, path);
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
  '/console/deletions',
  '/console/limits',
];

type Seeded = {
  readonly audienceId: number;
  readonly segmentId: number;
  /** Contains a third of the devices of the first audience. */
  readonly partId: number;
  readonly failingId: number;
  readonly importLogId: number;
};

/** A state of a page. Each one is checked in every theme. */
type State = {
  readonly what: string;
  readonly path: (seeded: Seeded) => string;
  /** A button to press, and the text or dialog that then appears. */
  readonly press?: string;
  readonly shows?: string;
};

const dialogs = [
  ['Clear …', 'Clear this audience?'],
  ['Delete …', 'Delete this audience?'],
  ['Rename …', 'Rename this audience'],
] as const;

const missing = [
  'imports/9',
  'imports/9/errors',
  'audiences/9',
  'segments/9/composition',
  'subscriptions/9',
  'webhooks/9',
];

const statesOfPartner: readonly State[] = [
  ...listPaths.map((path) => ({ what: path, path: () => path })),
  { what: 'an import', path: ({ importLogId }) => `/console/imports/${importLogId}` },
  { what: 'the errors of an import', path: ({ importLogId }) => `/console/imports/${importLogId}/errors` },
  { what: 'an audience', path: ({ audienceId }) => `/console/audiences/${audienceId}` },
  {
    what: 'a failing audience',
    path: ({ failingId }) => `/console/audiences/${failingId}`,
    shows: 'What failed and why',
  },
  { what: 'the errors of an audience', path: ({ failingId }) => `/console/audiences/${failingId}/errors` },
  { what: 'an append', path: ({ audienceId }) => `/console/audiences/${audienceId}/append` },
  ...dialogs.map(([press, shows]) => ({
    what: shows,
    path: ({ audienceId }: Seeded) => `/console/audiences/${audienceId}`,
    press,
    shows,
  })),
  {
    what: 'an overlap',
    path: ({ audienceId, partId }) => `/console/overlap?audiences=${audienceId},${partId}`,
    press: 'Count the overlap',
    shows: 'Together, these audiences reach',
  },
  ...['', '?split=country', '?split=id_type', '?split=event'].map((query) => ({
    what: `a report${query}`,
    path: ({ segmentId }: Seeded) => `/console/segments/${segmentId}/composition${query}`,
  })),
  ...missing.map((path) => ({ what: `missing ${path}`, path: () => `/console/${path.replace('9', '999999999')}` })),
  { what: 'a page of another role', path: () => '/console/operator/lanes' },
];

describe('the pages of a partner', () => {
  let partner: ConsolePartner;
  let seeded: Seeded;
  let shared: OpenPage;

  beforeAll(async () => {
    partner = await newPartner();
    const report = await loadReport(partner);
    // The devices are numbered as in `loadReport`. The overlap shows every color, because its shares are one third and
    // 100%.
    const first = partner.id * 10_000;
    await partner.upload('part.csv', rows(first, first + 330, 'buy'));
    const { audienceId: partId } = await partner.audiences.create('Part', 'part.csv');
    const { audienceId: failingId } = await partner.audiences.create('Failing', 'attributes.csv');
    await partner.upload('bad/1.csv', 'not-an-id,travel\n,travel\n6d92078a-8246-4ba4-ae5b-76104861e7dc,golf\n');
    await partner.upload('bad/2.csv', '6d92078a-8246-4ba4-ae5b-76104861e7dc,travel\nnot-an-id,travel\n');
    const importLogId = await partner.api.queue({ file_path: 'bad/', key_type: 1, compressed: false });
    await Promise.all([partner.api.waitForEnd(importLogId), partner.audiences.settled(failingId)]);
    await partner.audiences.settled(partId);
    seeded = { ...report, partId, failingId, importLogId };
    shared = await openUnclosedPage();
    await signInWithKey(shared.context, partner.apiKey);
    await openLoaded(shared.page, '/console/limits');
    return () => shared.context.close();
  });

  function sharedPage(): Page {
    keepPicture(shared.page);
    return shared.page;
  }

  it('there is no accessibility problem at an address without a page', async () => {
    const page = sharedPage();
    await openLoaded(page, '/console/nonsense');
    await expectAccessible(page, 'nonsense');
  });

  it.for(statesOfPartner)('there is no accessibility problem: $what', async ({ what, path, press, shows }) => {
    const page = sharedPage();
    await visitLoaded(page, path(seeded));
    if (press !== undefined) await page.getByRole('button', { name: press }).click();
    if (shows !== undefined) await page.getByText(shows).first().waitFor();
    await expectAccessible(page, what);
  });

  it('there is no accessibility problem on the report that a one-time link opens', async () => {
    const path = `/v2/firstparty/segments/${seeded.segmentId}/console-links`;
    const made = await partner.api.request(path, { method: 'POST' });
    const { url } = z.object({ url: z.string() }).parse(await made.json());
    rememberSecrets(new URL(url).hash.slice(1));
    const { page } = await openPage();
    await page.goto(url);
    await readReportTable(page);
    await waitUntilLoaded(page);
    await expectAccessible(page, 'link');
  });

  it('there is no accessibility problem on the page of a webhook', async () => {
    const created = await partner.api.request('/v1/webhooks', {
      method: 'POST',
      body: JSON.stringify({ url: 'https://hooks.invalid/inlet', description: 'Failing' }),
    });
    const page = sharedPage();
    await visitLoaded(page, `/console${(created.headers.get('location') ?? '').replace('/v1', '')}`);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('The connection failed').waitFor();
    await expectAccessible(page, 'webhook');
  });

  it('there is no accessibility problem on the page of a subscription', async () => {
    const body = { prefix: 'bad/', key_type: 1, compressed: false, existing: 'import' };
    const created = await partner.api.request('/v1/marketplace/subscriptions', {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const page = sharedPage();
    await visitLoaded(page, `/console${(created.headers.get('location') ?? '').replace('/v1/marketplace', '')}`);
    await page.getByRole('cell', { name: 'Imported' }).first().waitFor();
    await expectAccessible(page, 'subscription');
    await visitLoaded(page, '/console/subscriptions');
    await expectAccessible(page, 'subscriptions');
  });

  it('there is no accessibility problem while the API cannot be reached', async () => {
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
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
  it('there is no accessibility problem on empty pages', async () => {
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await openLoaded(page, '/console/limits');
    for (const path of listPaths) {
      await visitLoaded(page, path);
      await expectAccessible(page, `empty ${path}`);
    }
  });
});

describe('the pages of an operator', () => {
  it('no page has an accessibility problem', async () => {
    const { page, context } = await openPage();
    await signInAsOperator(context);
    await openLoaded(page, '/console/operator/incidents');
    for (const name of ['lanes', 'jobs', 'partners', 'engine', 'backups', 'alerts', 'incidents']) {
      await visitLoaded(page, `/console/operator/${name}`);
      await expectAccessible(page, name);
    }
  });

  it('there is no accessibility problem on the page of a job', async () => {
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
  it('no page has an accessibility problem', async () => {
    const { page } = await openPage();
    for (const path of ['/console/sign-in', '/console/sign-in?error=no_account', '/console/open#wrong']) {
      await openLoaded(page, path);
      await expectAccessible(page, path);
    }
  });
});

describe('the accessibility check', () => {
  it.for([
    [
      'a contrast that is too low in the dark theme only',
      '@media (prefers-color-scheme: dark) { p { color: #ddd } }',
      '',
      /^dark: color-contrast:/,
    ],
    ['a field without a label', '', '<input>', /^light: label:/],
    [
      'targets that are too small in a narrow window only',
      'button { all: unset; padding: 20px } @media (max-width: 400px) { button { padding: 0; font-size: 8px } }',
      '<button>a</button><button>b</button>',
      /^narrow: target-size:/,
    ],
    ['a page that is too wide for a narrow window', 'main { min-width: 400px }', '', /^narrow: \d+ pixels/],
  ] as const)('finds %s', async ([, style, content, problem]) => {
    const { page } = await openPage();
    const html = (css: string, more: string): string =>
      `<html lang="en"><title>x</title><style>* { color: #000; background: #fff } ${css}</style><main><h1>x</h1><p>Text</p>${more}</main>`;
    await page.setContent(html('', '<button>A button</button>'));
    expect(await findProblems(page)).toEqual([]);
    await page.setContent(html(style, content));
    expect((await findProblems(page))[0]).toMatch(problem);
  });
});

describe('using only the keyboard', () => {
  it('a user starts at the link that skips the navigation, and the focus moves to the heading of each opened page', async () => {
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await openLoaded(page, '/console/audiences');
    await page.keyboard.press('Tab');
    expect(await focusedText(page)).toBe('Skip to content');
    await pressUntil(page, 'Imports');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
    await expect.poll(() => focusedText(page)).toBe('Imports');
    await pressUntil(page, 'New import');
    await page.goBack();
    await page.getByRole('heading', { name: 'Audiences', level: 1 }).waitFor();
    await expect.poll(() => focusedText(page)).toBe('Audiences');
  });

  it('a user can find out why an import failed', async () => {
    const partner = await newPartner();
    await partner.createAttribute('sport', 'sport');
    // In the first line, the invalid row would be taken for a header.
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

  it('a user can create an audience from uploaded files, and clear it', async () => {
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

  it('a user can create a webhook, test it, and read why the test event was not delivered', async () => {
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

  it('a user can read, sort, and split a report', async () => {
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

/** The maximum number of times that a task may require pressing the Tab key. */
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
