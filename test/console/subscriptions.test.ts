import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addApiKey } from '../support/add-api-key.ts';
import { device } from '../support/device-id.ts';
import { wireUp } from '../support/wired.ts';
import { expectAccessibleInThemes } from './support/expect-accessible.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { newPartner, sharedStores } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

// Partners subscribe to new files in their storage. The workers list the storage every second.

async function openAs(apiKey: string, userToken?: string): Promise<Page> {
  const { page, context } = await openPage();
  await signInWithKey(context, apiKey, userToken);
  await page.goto('/console/subscriptions');
  await waitUntilLoaded(page);
  return page;
}

/** Creates a subscription for plain files through the page, and checks that the page shows it. */
async function create(page: Page, prefix: string): Promise<void> {
  await page.getByRole('button', { name: 'Create a subscription' }).click();
  await page.getByRole('textbox', { name: 'Prefix' }).fill(prefix);
  await page.getByRole('textbox', { name: 'Seconds without changes' }).fill('0');
  await page.getByRole('checkbox', { name: 'The files are gzipped' }).uncheck();
  await page.getByRole('button', { name: 'Create the subscription' }).click();
  await page.getByRole('heading', { name: prefix, level: 1 }).waitFor();
}

describe('the subscriptions page', () => {
  it('creates a subscription, shows the files that arrive, and links to their imports', async () => {
    const partner = await newPartner();
    await partner.createAttribute('sport', 'sport');
    const page = await openAs(partner.apiKey);
    await page.getByRole('heading', { name: 'No subscriptions yet' }).waitFor();
    await page.getByRole('button', { name: 'Create a subscription' }).click();
    await page.getByRole('textbox', { name: 'Prefix' }).fill('../other/');
    await page.getByRole('button', { name: 'Create the subscription' }).click();
    await page.getByRole('alert').waitFor();
    await expectAccessibleInThemes(page, 'dialog for a new subscription');
    await page.getByRole('button', { name: 'Close' }).click();

    await create(page, 'daily/');
    await page.getByRole('heading', { name: 'No files yet' }).waitFor();
    await partner.upload('daily/good.csv', `${device(1)},sport\n`);
    const line = page.getByRole('row').filter({ hasText: 'daily/good.csv' });
    await line.getByText('Imported').waitFor();
    await partner.upload('daily/bad.csv', 'one column\n');
    await page.getByRole('row').filter({ hasText: 'daily/bad.csv' }).getByText('Failed').waitFor();
    await page.getByRole('combobox', { name: 'File status' }).selectOption({ label: 'Failed' });
    await line.waitFor({ state: 'detached' });
    await expectAccessibleInThemes(page, 'subscription');
    await page.getByRole('combobox', { name: 'File status' }).selectOption({ label: 'All files' });
    await line.getByRole('link', { name: /^Import \d+$/ }).click();
    await page.getByRole('link', { name: /^subscription \d+$/ }).waitFor();
  });

  it('pauses and resumes a subscription, changes when it imports, and deletes it', async () => {
    const partner = await newPartner();
    await partner.createAttribute('sport', 'sport');
    const page = await openAs(partner.apiKey);
    await create(page, 'daily/');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused').waitFor();
    await partner.upload('daily/1.csv', `${device(1)},sport\n`);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('row').filter({ hasText: 'daily/1.csv' }).getByText('Imported').waitFor();

    await page.getByRole('button', { name: 'Change …' }).click();
    await page.getByRole('combobox', { name: 'Import' }).selectOption({ label: 'When a marker is written' });
    await page.getByRole('textbox', { name: 'Marker name' }).fill('_DONE');
    await expectAccessibleInThemes(page, 'dialog for a change');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('when _DONE is written').waitFor();
    await partner.upload('daily/2.csv', `${device(2)},sport\n`);
    await page.getByText('Waiting for the marker').waitFor();
    await partner.upload('daily/_DONE', 'done\n');
    await page.getByRole('row').filter({ hasText: 'daily/2.csv' }).getByText('Imported').waitFor();

    await page.getByRole('button', { name: 'Delete …' }).click();
    await expectAccessibleInThemes(page, 'dialog before a subscription is deleted');
    await page.getByRole('button', { name: 'Delete the subscription' }).click();
    await page.getByRole('heading', { name: 'No subscriptions yet' }).waitFor();
  });

  it("shows only what the session's scopes allow, and nothing to customers", async () => {
    const partner = await newPartner();
    const deps = await wireUp(sharedStores());
    const { apiKey } = await addApiKey(deps, partner, { scopes: ['marketplace:read'] });
    await deps.close();
    const page = await openAs(apiKey);
    await page.getByRole('heading', { name: 'No subscriptions yet' }).waitFor();
    expect(await page.getByRole('button', { name: 'Create a subscription' }).count()).toBe(0);
    const { userToken } = await partner.createCustomer('Retail Co');
    const theirs = await openAs(partner.apiKey, userToken);
    await theirs.getByRole('heading', { name: 'Your account has no access to this page' }).waitFor();
    expect(await theirs.getByRole('link', { name: 'Subscriptions' }).count()).toBe(0);
  });
});
