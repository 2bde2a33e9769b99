import { describe, expect, inject, it } from 'vitest';
import { audienceClient } from '../acceptance/audience-client.ts';
import { rows } from '../support/file-rows.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { newPartner } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

describe('a retry', () => {
  it('of an import that replaces data is offered for all files only, with the reason', async () => {
    const partner = await newPartner();
    await partner.createAttribute('sport', 'sport');
    await partner.upload('daily/1.csv', rows(0, 5, 'sport'));
    await partner.upload('daily/2.csv', 'one column\n');
    const id = await partner.api.queue({ file_path: 'daily/', key_type: 1, compressed: false, mode: 'replace' });
    await partner.api.waitForEnd(id);
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await page.goto(`/console/imports/${id}`);
    await page.getByText('A retry loads all files, because the import replaces data.').waitFor();
    expect(await page.getByRole('button', { name: /^Retry/ }).allTextContents()).toEqual(['Retry import']);
  });

  it('of an append is offered to a customer only for files from its own uploads', async () => {
    const partner = await newPartner();
    const customer = await partner.createCustomer('Retail Co');
    const { url } = inject('console');
    const audiences = audienceClient(url, partner.apiKey, customer.userToken);
    const { audienceId } = await audiences.create('Of Retail', 'missing.csv');
    await audiences.settled(audienceId);
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey, customer.userToken);
    await page.goto(`/console/audiences/${audienceId}`);
    await waitUntilLoaded(page);
    const history = page.getByRole('table', { name: /^Appends and clears/ });
    await history.getByText(`Only ${partner.name} can retry it, because the files are not your uploads.`).waitFor();
    expect(await history.getByRole('button').count()).toBe(0);
    await expectAccessible(page, 'an append that only the partner can retry');
  });
});
