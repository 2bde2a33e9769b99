import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { audienceClient } from '../acceptance/audience-client.ts';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import { logDirectory } from '../support/log-directory.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { type ConsolePartner, loadReport, newPartner } from './support/partner.ts';
import { readReportTable } from './support/report-table.ts';
import { signInWithKey } from './support/sign-in.ts';

async function openAs(partner: ConsolePartner, path: string, userToken?: string): Promise<Page> {
  const { page, context } = await openPage({ acceptDownloads: true });
  await signInWithKey(context, partner.apiKey, userToken);
  await page.goto(path);
  await waitUntilLoaded(page);
  return page;
}

/** Returns the texts of a table's row headers. */
async function rowNames(page: Page, table: string): Promise<string[]> {
  return page.getByRole('table', { name: table }).getByRole('rowheader').allTextContents();
}

async function download(page: Page, button: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button }).click()]);
  return readFile(await file.path(), 'utf8');
}

describe('imports', () => {
  it('explains a failed file with three kinds of invalid rows within three clicks', async () => {
    const partner = await newPartner();
    await partner.createAttribute('sport', 'sport');
    const good = device(1);
    const invalid = ['not-an-id,sport', ',sport', `${device(2)},golf`, 'also-not-an-id,sport'];
    await partner.upload('daily/1.csv', `${good},sport\n${invalid.join('\n')}\n`);
    await partner.upload('daily/2.csv', 'one column\n');
    const id = await partner.api.queue({ file_path: 'daily/', key_type: 1, compressed: false });
    await partner.api.waitForEnd(id);

    const page = await openAs(partner, '/console/imports');
    await page.getByRole('link', { name: `#${id} daily/` }).click();
    const failed = page.getByRole('region', { name: 'What failed and why' });
    await failed.getByText('2 rows').waitFor();
    for (const [row, text] of invalid.entries()) {
      const line = failed.getByRole('row').filter({ hasText: text });
      await line.getByRole('cell', { name: String(row + 2), exact: true }).waitFor();
    }
    await failed.getByText('daily/2.csv').waitFor();

    await failed.getByRole('link', { name: 'Show the rejected rows' }).first().click();
    await page.getByRole('heading', { name: 'Rejected rows' }).waitFor();
    await waitUntilLoaded(page);
    expect(await rowNames(page, 'Rejected rows and failed files')).toEqual(['daily/1.csv', 'daily/1.csv']);
    await page.getByRole('combobox', { name: 'Reason' }).selectOption('');
    await page.getByRole('cell', { name: ',sport', exact: true }).waitFor();
    const csv = await partner.api.request(`/v1/marketplace/import/${id}/errors`, { headers: { accept: 'text/csv' } });
    expect(await download(page, 'Download CSV')).toBe(await csv.text());
  });

  it('lists only the imports that match the filters, which stay in the address', async () => {
    const partner = await newPartner();
    await partner.createAttribute('sport', 'sport');
    await partner.upload('summer/1.csv', `${device(1)},sport\n`);
    for (const path of ['summer/1.csv', 'winter/1.csv'])
      await partner.api.waitForEnd(await partner.api.queue({ file_path: path, key_type: 1 }));
    const page = await openAs(partner, '/console/imports');
    const paths = (): Promise<string[]> => rowNames(page, 'Imports, newest first');
    expect(await paths()).toHaveLength(2);
    await page.getByRole('combobox', { name: 'Status' }).selectOption({ label: 'Failed' });
    await expect.poll(paths).toEqual([expect.stringContaining('winter/1.csv')]);
    await page.reload();
    await waitUntilLoaded(page);
    expect(await paths()).toEqual([expect.stringContaining('winter/1.csv')]);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(paths).toHaveLength(2);
    await page.getByRole('searchbox', { name: 'Path starts with' }).fill('summer/');
    await expect.poll(paths).toEqual([expect.stringContaining('summer/1.csv')]);
    await page.getByRole('searchbox', { name: 'Path starts with' }).fill('');
    await expect.poll(paths).toHaveLength(2);
    await page.getByLabel('Created until').fill('2020-01-01');
    await page.getByText('No imports match these filters').waitFor();
  });
});

describe('audiences', () => {
  it('names every reason with its count, even if the first file has hundreds of rejected rows', async () => {
    const partner = await newPartner();
    const first = ['nonsense,x', device(1), ',x'].map((line) => `${line}\n`.repeat(110));
    await partner.upload('daily/1.csv', rows(0, 1) + first.join(''));
    await partner.upload('daily/2.csv.gz', 'not compressed\n');
    const { audienceId } = await partner.audiences.create('Daily', 'daily/');
    await partner.audiences.settled(audienceId);

    const page = await openAs(partner, `/console/audiences/${audienceId}`);
    const failed = page.getByRole('region', { name: 'What failed and why' });
    await failed.getByText('compression_mismatch').waitFor();
    expect(await failed.getByText('110 rows').count()).toBe(3);
    expect(await failed.getByText('1 file', { exact: true }).count()).toBe(2);
    await failed.getByRole('link', { name: 'Show the failed files' }).first().click();
    await page.getByRole('heading', { name: 'Rejected rows' }).waitFor();
    await expect.poll(() => page.getByRole('combobox', { name: 'Reason' }).locator('option').count()).toBe(6);
  });

  it('shows the funnel of an audience, appends files, and clears it after a confirmation', async () => {
    const partner = await newPartner();
    await partner.upload('members/1.csv', rows(0, 40, 'buy'));
    await partner.upload('more/1.csv', rows(20, 60, 'view'));
    const { audienceId } = await partner.audiences.create('Summer', 'members/');
    await partner.audiences.settled(audienceId);
    const page = await openAs(partner, '/console/audiences');
    await page.getByRole('link', { name: 'Summer' }).click();
    const funnel = page.getByRole('table', { name: 'Devices from upload to match' });
    const counts = (): Promise<string[]> => funnel.getByRole('cell').allTextContents();
    await expect.poll(counts).toEqual(expect.arrayContaining(['40']));

    await page.getByRole('link', { name: 'Append files' }).first().click();
    await page.getByRole('link', { name: 'Already uploaded' }).click();
    await page.getByRole('textbox', { name: 'Path of a file or folder' }).fill('more/');
    await page.getByRole('button', { name: 'Append', exact: true }).click();
    await page.getByRole('heading', { name: 'Summer' }).waitFor();
    await expect.poll(async () => (await counts()).slice(0, 2)).toEqual(['80', '60']);

    await page.getByRole('button', { name: 'Clear …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Clear this audience?' });
    await dialog.getByText('60 devices are deleted').waitFor();
    await dialog.getByText('2 files are removed').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await partner.audiences.get(audienceId)).toMatchObject({ unique_devices: 60 });
    await page.getByRole('button', { name: 'Clear …' }).click();
    await dialog.getByRole('button', { name: 'Clear the audience' }).click();
    await page.getByText('This audience is empty.').waitFor();
    expect(await partner.audiences.get(audienceId)).toMatchObject({ unique_devices: 0, file: [] });
  });

  it('renames an audience, retries its failed files from the history, and deletes it', async () => {
    const partner = await newPartner();
    await partner.upload('set/1.csv', rows(0, 10));
    await partner.upload('set/2.csv', 'nonsense,\n');
    const { audienceId } = await partner.audiences.create('Before', 'set/');
    await partner.audiences.settled(audienceId);
    await partner.upload('set/2.csv', rows(10, 20));
    const page = await openAs(partner, `/console/audiences/${audienceId}`);

    await page.getByRole('button', { name: 'Rename …' }).click();
    const renaming = page.getByRole('dialog', { name: 'Rename this audience' });
    await renaming.getByRole('textbox', { name: 'Name' }).fill('After');
    await renaming.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'After' }).waitFor();

    const history = page.getByRole('table', { name: 'Appends and clears of the audience, newest first' });
    await history.getByText('1 of 2').waitFor();
    await history.getByRole('button', { name: 'Retry failed files' }).click();
    await history.getByText('1 of 1').waitFor();
    await page.getByText('All files are loaded.').waitFor();
    expect(await partner.audiences.get(audienceId)).toMatchObject({ name: 'After', unique_devices: 20 });

    await page.getByRole('button', { name: 'Delete …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete this audience?' });
    await dialog.getByText('20 devices are deleted').waitFor();
    await dialog.getByText('links to its reports stop working').waitFor();
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await page.getByRole('button', { name: 'Delete …' }).click();
    await dialog.getByRole('button', { name: 'Delete the audience' }).click();
    await page.getByText('No audiences yet').waitFor();
    await partner.audiences.expectProblem('GET', `/v2/firstparty/audience/${audienceId}`);
  });

  it('lists the audiences of customers only for the partner', async () => {
    const partner = await newPartner();
    const customer = await partner.createCustomer('Retail Co');
    await partner.audiences.create('Of the partner', 'nothing/');
    await audienceClient(inject('console').url, partner.apiKey, customer.userToken).create('Of Retail', 'nothing/');
    const page = await openAs(partner, '/console/audiences');
    const names = (): Promise<string[]> => rowNames(page, 'Audiences, newest first');
    expect(await names()).toEqual([expect.stringContaining('Of Retail'), expect.stringContaining('Of the partner')]);
    await page.getByRole('cell', { name: 'Retail Co' }).waitFor();
    expect(await page.getByRole('link', { name: 'Of Retail' }).count()).toBe(0);
    await page.getByText('The audiences of a customer can be opened only by a user of the customer').waitFor();
    const owner = page.getByRole('combobox', { name: 'Owner' });
    await owner.selectOption({ label: 'Retail Co' });
    await expect.poll(names).toEqual([expect.stringContaining('Of Retail')]);
    await owner.selectOption({ label: 'Your own' });
    await expect.poll(names).toEqual([expect.stringContaining('Of the partner')]);
    const theirs = await openAs(partner, '/console/audiences?owner=own', customer.userToken);
    expect(await rowNames(theirs, 'Audiences, newest first')).toEqual([expect.stringContaining('Of Retail')]);
    expect(await theirs.getByLabel('Owner').count()).toBe(0);
  });

  it('shows a customer only their own audiences, and no imports', async () => {
    const partner = await newPartner();
    const customer = await partner.createCustomer('Retail Co');
    await partner.audiences.create('Of the partner', 'nothing/');
    await audienceClient(inject('console').url, partner.apiKey, customer.userToken).create('Of Retail', 'nothing/');
    const page = await openAs(partner, '/console/audiences', customer.userToken);
    expect(await rowNames(page, 'Audiences, newest first')).toEqual([expect.stringContaining('Of Retail')]);
    expect(await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents()).not.toContain(
      'Imports',
    );
    await page.goto('/console/imports');
    await page.getByText('Your account has no access to this page').waitFor();
  });
});

describe('file uploads', () => {
  it('checks a file in the browser, sends nothing while it would fail, and imports the fixed file', async () => {
    const partner = await newPartner();
    await partner.createAttribute('sport', 'sport');
    const page = await openAs(partner, '/console/imports/new');
    const uploads: string[] = [];
    page.on('request', (request) => {
      if (['POST', 'PUT'].includes(request.method())) uploads.push(request.url());
    });
    const choose = (content: string): Promise<void> =>
      page
        .getByLabel('Files to upload')
        .setInputFiles({ name: 'devices.csv', mimeType: '', buffer: Buffer.from(content) });
    await choose('just text\n');
    await page.getByText('1 file would fail. Nothing has been sent.').waitFor();
    expect(await page.getByRole('button', { name: 'Upload and import' }).isDisabled()).toBe(true);
    expect(uploads).toEqual([]);
    await choose(`${rows(0, 50, 'sport')}not-an-id,sport\n`);
    await page.getByText('1 row would be rejected and 50 loaded.').waitFor();
    await page.getByRole('button', { name: 'Upload and import' }).click();
    await page.waitForURL(/\/console\/imports\/\d+$/);
    await page.getByText('50 rows loaded, 1 row rejected.').waitFor();
    const [log] = await partner.api.list();
    expect(log).toMatchObject({ status: 2, total_rows: '51', unique_devices: '50' });
  });

  it('asks before following a console link interrupts an upload', async () => {
    const partner = await newPartner();
    const page = await openAs(partner, '/console/audiences');
    await page.getByRole('link', { name: 'New audience' }).click();
    await page.route(/partNumber=/, () => undefined);
    await page.getByRole('textbox', { name: 'Name' }).fill('Kept');
    const file = { name: 'kept.csv', mimeType: '', buffer: Buffer.from(rows(0, 10, 'buy')) };
    await page.getByLabel('Files to upload').setInputFiles(file);
    await page.getByText('All 10 rows are valid.').waitFor();
    await page.getByRole('button', { name: 'Upload and create' }).click();
    await page.getByRole('button', { name: 'Pause the upload' }).waitFor();
    const asked: string[] = [];
    let leaves = false;
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      return leaves ? dialog.accept() : dialog.dismiss();
    });
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.evaluate(() => history.back());
    await expect.poll(() => asked.length).toBe(2);
    await expect.poll(() => new URL(page.url()).pathname).toBe('/console/audiences/new');
    await page.getByRole('button', { name: 'Pause the upload' }).waitFor();
    leaves = true;
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.getByRole('heading', { name: 'Limits', level: 1 }).waitFor();
    expect(asked).toHaveLength(3);
  });

  it('resumes an interrupted upload after a reload', async () => {
    const partner = await newPartner();
    const page = await openAs(partner, '/console/audiences/new');
    // Three parts of 8 MiB. The second part does not reach the storage before the reload.
    const file = join(logDirectory, 'large.csv');
    await writeFile(file, rows(0, 460_000, 'buy'));
    const parts: number[] = [];
    let isCut = true;
    await page.route(/partNumber=/, async (route) => {
      const part = Number(new URL(route.request().url()).searchParams.get('partNumber'));
      if (isCut && part > 1) return route.abort();
      parts.push(part);
      return route.continue();
    });
    await page.getByRole('textbox', { name: 'Name' }).fill('Resumed');
    await page.getByLabel('Files to upload').setInputFiles(file);
    await page.getByText('All 460,000 rows are valid.').waitFor();
    const stored = page.waitForResponse((answer) => answer.url().includes('partNumber=1&') && answer.ok());
    await page.getByRole('button', { name: 'Upload and create' }).click();
    await stored;
    expect(parts).toEqual([1]);
    // The page warns before the user leaves it.
    page.once('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByText('An upload was interrupted.').waitFor();
    isCut = false;
    await page.getByRole('textbox', { name: 'Name' }).fill('Resumed');
    await page.getByLabel('Files to upload').setInputFiles(file);
    await page.getByText('460,000 rows, all valid · resumes').waitFor();
    await page.getByRole('button', { name: /Upload and create|Continue/ }).click();
    await page.waitForURL(/\/console\/audiences\/\d+$/);
    expect(new Set(parts.slice(1))).not.toContain(1);
    const { audience_id } = z.object({ audience_id: z.int() }).parse((await partner.audiences.list())[0]);
    expect(await partner.audiences.settled(audience_id)).toMatchObject({ status: 2, unique_devices: 460_000 });
  });
});

describe('the composition report', () => {
  it('says which part could not be loaded, and can load it again', async () => {
    const partner = await newPartner();
    const { segmentId, audienceId } = await loadReport(partner);
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    const failing = [
      `**/v2/firstparty/audience/${audienceId}?*`,
      '**/v1/limits',
      '**/composition?*order=lowest_index*',
    ];
    for (const url of failing) await page.route(url, (route) => route.abort());
    // With small groups, the first page is not enough for the summary.
    await page.goto(`/console/segments/${segmentId}/composition?small=include`);
    const parts = ['The audience', 'The budget', 'The summary'];
    for (const what of parts) await page.getByText(`${what} could not be loaded`).waitFor();
    await waitUntilLoaded(page);
    for (const url of failing) await page.unroute(url);
    for (const what of parts) await page.getByRole('button', { name: `Try again to load: ${what}` }).click();
    await page.getByRole('list', { name: 'From upload to match' }).waitFor();
    await page.getByText('Summer buyers').first().waitFor();
    await expect.poll(() => page.getByText('could not be loaded').count()).toBe(0);
  });

  it('sorts, searches, splits, and compares, and exports what the API exports', async () => {
    const partner = await newPartner();
    const { segmentId } = await loadReport(partner);
    const path = `/v2/firstparty/segments/${segmentId}/composition`;
    const page = await openAs(partner, `/console/segments/${segmentId}/composition`);
    const names = async (): Promise<string[]> => (await readReportTable(page)).map(({ name }) => name);
    expect((await names()).slice(0, 2)).toEqual(['travel', 'sports']);
    await page.getByRole('button', { name: 'Devices', exact: true }).click();
    await expect.poll(async () => (await names()).at(-1)).toBe('travel');
    await page.getByRole('searchbox', { name: 'Find an attribute' }).fill('trav');
    await expect.poll(names).toEqual(['travel']);
    await page.getByRole('searchbox', { name: 'Find an attribute' }).fill('no such attribute');
    await page.getByText('No attributes contain “\u2068no such attribute\u2069”').waitFor();
    await page.getByRole('button', { name: 'Clear the search' }).click();
    await page.getByRole('combobox', { name: 'Split by' }).selectOption({ label: 'Event' });
    await page.waitForURL(/split=event/);
    await page.getByRole('rowheader', { name: /sports.*buy/ }).waitFor();
    await page.getByRole('combobox', { name: 'Split by' }).selectOption({ label: 'No split' });
    await page.getByRole('combobox', { name: 'Compare with' }).selectOption({ label: 'Germany' });
    await page.waitForURL(/country=DE/);
    await page.getByText('Compared with known devices in Germany (').waitFor();
    await page.goto(`/console/segments/${segmentId}/composition`);
    await readReportTable(page);
    const exported = await download(page, 'Export CSV');
    const csv = await partner.api.request(`${path}?order=index`, { headers: { accept: 'text/csv' } });
    expect(exported).toBe(await csv.text());
  });
});

describe('the account', () => {
  it('lists the attributes with their foreign keys, and the usage of each limit', async () => {
    const partner = await newPartner();
    const id = await partner.createAttribute('Sports fans', 'sport', 'sports');
    const page = await openAs(partner, '/console/attributes');
    const row = page.getByRole('row').filter({ hasText: 'Sports fans' });
    const cells = await row.getByRole('cell').allTextContents();
    expect(cells.slice(0, 3)).toEqual([String(id), 'sportsports', 'In use']);
    await page.getByRole('link', { name: 'Limits' }).click();
    const quotas = page.getByRole('table', { name: 'Quotas' });
    await quotas.getByRole('row', { name: /^Attributes 1 / }).waitFor();
  });
});
