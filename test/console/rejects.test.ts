import { gunzipSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { sharedOwnBucket } from '../support/own-bucket.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { type ConsolePartner, newPartner } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

// Partners export all rejected rows in the console, and retry imports. The lists have only the first 100 rows per file and
// reason.

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
  it('all rejected rows of an import can be exported and downloaded', async () => {
    const partner = await newPartner();
    await partner.createAttribute('x', 'x');
    await partner.upload('rejects.csv', file);
    const id = await partner.api.queue({ file_path: 'rejects.csv', key_type: 1 });
    await partner.api.waitForEnd(id);
    const page = await openAs(partner, `/console/imports/${id}`);
    const csv = await exportRows(page, page.getByRole('region', { name: 'All rejected rows' }));
    expect(linesOf(csv)).toHaveLength(1 + rejectedRows);
  });

  it('all rejected rows of a file in an audience can be exported and downloaded', async () => {
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

describe("the credentials of the partner's own bucket", () => {
  it("the bucket's credentials must be entered for a retry and for an export of rejected rows, and are not kept", async () => {
    const partner = await newPartner();
    await partner.createAttribute('x', 'x');
    const own = await sharedOwnBucket();
    const folder = `console-${partner.id}`;
    await own.upload(`${folder}/a.csv`, 'one column\n');
    const source = { file_path: `s3://${own.bucket}/${folder}/`, path_type: 1, key_type: 1, compressed: false };
    const id = await partner.api.queue({ ...source, credentials: own.credentials });
    await partner.api.waitForEnd(id);
    await own.upload(`${folder}/a.csv`, file);

    const page = await openAs(partner, `/console/imports/${id}`);
    await page.getByRole('button', { name: 'Retry import' }).click();
    const retry = page.getByRole('dialog', { name: 'Retry import' });
    await expectAccessible(page, 'credentials for a retry');
    await retry.getByRole('radio', { name: 'A role' }).check();
    await retry.getByRole('textbox', { name: 'Role ARN' }).waitFor();
    expect(await retry.getByLabel('Secret access key').count()).toBe(0);
    await expectAccessible(page, 'a role for a retry');
    await retry.getByRole('radio', { name: 'An access key' }).check();

    const { secretAccessKey } = own.credentials;
    const fill = async (dialog: Locator, region: string): Promise<void> => {
      await dialog.getByRole('textbox', { name: 'Bucket region' }).fill(region);
      await dialog.getByRole('textbox', { name: 'Access key ID' }).fill(own.credentials.accessKeyId);
      await dialog.getByLabel('Secret access key').fill(secretAccessKey);
    };
    await fill(retry, 'mars-1');
    await retry.getByRole('button', { name: 'Retry', exact: true }).click();
    await retry.getByRole('alert').waitFor();
    expect(await retry.getByLabel('Secret access key').inputValue()).toBe('');
    expect(await retry.getByLabel('Secret access key').getAttribute('type')).toBe('password');

    await fill(retry, own.credentials.region);
    await retry.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('link', { name: `import ${id}` }).waitFor();
    await page.getByText(`1 row loaded, ${rejectedRows} rows rejected.`).waitFor();

    await page.getByRole('button', { name: 'Export all rejected rows' }).click();
    const exporting = page.getByRole('dialog', { name: 'Export all rejected rows' });
    await fill(exporting, own.credentials.region);
    await exporting.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByText(`${rejectedRows} rows exported`).waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
    );
    expect(kept + (await page.content())).not.toContain(secretAccessKey);
  });

  it('no credentials are requested if the files are in the shared bucket', async () => {
    const partner = await newPartner();
    const id = await partner.api.queue({ file_path: 'missing.csv', key_type: 1 });
    await partner.api.waitForEnd(id);
    const page = await openAs(partner, `/console/imports/${id}`);
    await page.getByRole('button', { name: 'Retry import' }).click();
    await page.getByRole('link', { name: `import ${id}` }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});
