import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { focusedText, openPage } from './support/open-page.ts';
import { type ConsolePartner, newPartner } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

/** Delays the responses to changes, and counts the changes. */
async function holdChanges(
  page: Page,
  path: string,
): Promise<{ readonly sent: string[]; readonly release: () => void }> {
  const sent: string[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(`**${path}`, async (route) => {
    const method = route.request().method();
    if (method === 'GET') return route.continue();
    sent.push(method);
    await released;
    return route.continue();
  });
  return { sent, release };
}

async function open(partner: ConsolePartner, path: string): Promise<Page> {
  const { page, context } = await openPage();
  await signInWithKey(context, partner.apiKey);
  await page.goto(path);
  await waitUntilLoaded(page);
  return page;
}

/** Submits the dialog's form as fast as a user can, with the mouse and the keyboard. */
async function submitAgainAndAgain(page: Page, field: string, button: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: field }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: button, exact: true }).dblclick({ force: true });
}

describe('a dialog that is closed', () => {
  it('returns the focus to the element that opened it', async () => {
    const partner = await newPartner();
    const page = await open(partner, '/console/keys');
    const button = page.getByRole('button', { name: 'Create a key' });
    await button.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).press('Enter');
    await expect.poll(() => focusedText(page)).toBe('Create a key');
    await button.press('Enter');
    await page.getByRole('checkbox', { name: 'marketplace:read' }).press('Space');
    await page.getByRole('button', { name: 'Create the key' }).press('Enter');
    await page.getByText('Copy it now.').waitFor();
    await page.getByRole('button', { name: 'Done' }).press('Enter');
    await expect.poll(() => focusedText(page)).toBe('Create a key');
  });
});

describe('a dialog that is submitted several times in quick succession', () => {
  it('renames an audience only once', async () => {
    const partner = await newPartner();
    await partner.upload('members.csv', `${device(1)},buy\n`);
    const { audienceId } = await partner.audiences.create('Before', 'members.csv');
    const page = await open(partner, `/console/audiences/${audienceId}`);
    const { sent, release } = await holdChanges(page, `/v2/firstparty/audience/${audienceId}`);
    await page.getByRole('button', { name: 'Rename …' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('After');
    await submitAgainAndAgain(page, 'Name', 'Rename');
    release();
    await page.getByRole('heading', { name: 'After' }).waitFor();
    expect(sent).toEqual(['PATCH']);
  });

  it('creates an attribute only once', async () => {
    const partner = await newPartner();
    const page = await open(partner, '/console/attributes');
    const { sent, release } = await holdChanges(page, '/v1/marketplace/attributes');
    await page.getByRole('button', { name: 'Create an attribute' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Sports fans');
    await submitAgainAndAgain(page, 'Name', 'Create');
    release();
    await page.getByRole('rowheader', { name: 'Sports fans' }).waitFor();
    expect(sent).toEqual(['POST']);
  });
});
