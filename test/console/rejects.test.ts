import { gunzipSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { type ConsolePartner, newPartner } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

// Partners export all rejected rows in the console. The lists have only the first 100 rows per file and reason.

const rejectedRows = 150;
const file = `${device(1)},x\n${'nonsense,x\n'.repeat(rejectedRows)}`;

async function openAs(partner: ConsolePartner, path: string): Promise<Page> {
  const { page, context } = await openPage();
  await signInWithKey(context, partner.apiKey);
  await page.goto(path);
  await waitUntilLoaded(page);
  return page;
}

/** Exports the rows, and downloads the only file. */
async function exportRows(page: Page, area: Locator): Promise<string> {
  await area.getByRole('button', { name: 'Export all rejected rows' }).click();
  await area.getByText(`${rejectedRows} rows exported`).waitFor();
  const link = area.getByRole('listitem').getByRole('link');
  await link.waitFor();
  await expectAccessible(page, 'export of rejected rows');
  const response = await fetch((await link.getAttribute('href')) ?? '');
  return gunzipSync(Buffer.from(await response.arrayBuffer())).toString();
}

const linesOf = (csv: string): string[] => csv.trimEnd().split('\n');

describe('all rejected rows', () => {
  it('of an import are exported and downloaded', async () => {
    const partner = await newPartner();
    await partner.createAttribute('x', 'x');
    await partner.upload('rejects.csv', file);
    const id = await partner.api.queue({ file_path: 'rejects.csv', key_type: 1 });
    await partner.api.waitForEnd(id);
    const page = await openAs(partner, `/console/imports/${id}`);
    const csv = await exportRows(page, page.getByRole('region', { name: 'All rejected rows' }));
    expect(linesOf(csv)).toHaveLength(1 + rejectedRows);
  });

  it('of a file of an audience are exported and downloaded', async () => {
    const partner = await newPartner();
    await partner.upload('members.csv', file);
    const { audienceId } = await partner.audiences.create('Members', 'members.csv');
    await partner.audiences.settled(audienceId);
    const page = await openAs(partner, `/console/audiences/${audienceId}/errors`);
    expect(await page.getByRole('button', { name: 'Export all rejected rows' }).count()).toBe(0);
    await page.getByRole('link', { name: 'list of files' }).click();
    await page
      .getByRole('table', { name: /^Files of the audience/ })
      .getByRole('link')
      .click();
    await page.getByRole('heading', { name: 'Rejected rows' }).waitFor();
    const csv = await exportRows(page, page.getByRole('region', { name: 'All rejected rows' }));
    expect(linesOf(csv)).toHaveLength(1 + rejectedRows);
    await page.getByRole('combobox', { name: 'Reason' }).selectOption('invalid_id');
    await page.getByText(`${rejectedRows} rows exported`).waitFor();
  });
});
