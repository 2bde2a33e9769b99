import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { describe, expect, inject, it } from 'vitest';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { newBarePartner, wireUp } from '../support/wired.ts';
import { expectAccessibleInThemes } from './support/expect-accessible.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { newPartner, sharedStores } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

// Partners manage their attributes, keys, customers, and user tokens in the console.

async function openAs(apiKey: string, path: string): Promise<Page> {
  const { page, context } = await openPage();
  await signInWithKey(context, apiKey);
  await page.goto(path);
  await waitUntilLoaded(page);
  return page;
}

const statusOf = async (apiKey: string, headers: Record<string, string> = {}): Promise<number> =>
  (await fetch(`${inject('console').url}/v1/limits`, { headers: { authorization: `Bearer ${apiKey}`, ...headers } }))
    .status;

/** Reads the secret that the open dialog shows, and closes the dialog. */
async function takeSecret(page: Page): Promise<string> {
  await page.getByText('Copy it now.').waitFor();
  await expectAccessibleInThemes(page, 'dialog with a secret');
  const secret = (await page.getByRole('dialog').locator('code.secret').textContent()) ?? '';
  rememberSecrets(secret);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(secret);
  return secret;
}

describe('the API keys page', () => {
  it('creates a key that is shown only once, rotates it, and revokes it', async () => {
    const partner = await newPartner();
    const page = await openAs(partner.apiKey, '/console/keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await expectAccessibleInThemes(page, 'dialog for a new key');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('textbox', { name: 'Purpose' }).fill('nightly');
    await page.getByRole('checkbox', { name: 'marketplace:read' }).check();
    await page.getByRole('textbox', { name: 'Lifetime in days' }).fill('30');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const first = await takeSecret(page);
    expect(await statusOf(first)).toBe(200);

    const line = page.getByRole('row').filter({ hasText: 'nightly' });
    await line.getByRole('cell', { name: 'marketplace:read' }).waitFor();
    await line.getByRole('button', { name: /^Rotate/ }).click();
    await expectAccessibleInThemes(page, 'dialog for rotating a key');
    await page.getByRole('textbox', { name: 'Overlap in hours' }).fill('0');
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    const second = await takeSecret(page);
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);

    await line.getByRole('button', { name: /^Revoke/ }).click();
    await expectAccessibleInThemes(page, 'dialog for revoking a key');
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await line.getByText('Revoked').waitFor();
    expect(await statusOf(second)).toBe(401);
  });

  it("shows only what the session's scopes allow", async () => {
    const partner = await newPartner();
    const deps = await wireUp(sharedStores());
    const { apiKey } = await addApiKey(deps, partner, { scopes: ['marketplace:read', 'keys:read'] });
    await deps.close();
    const page = await openAs(apiKey, '/console/keys');
    await page.getByRole('table', { name: 'API keys' }).waitFor();
    expect(await page.getByRole('button', { name: /Create|Rotate|Revoke/ }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Customers' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Attributes' }).click();
    await page.getByRole('heading', { name: 'Attributes', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /Create|Rename|Retire/ }).count()).toBe(0);
  });
});

describe('storage keys', () => {
  it('storage keys are listed and can be rotated, and the secret of the new key is shown only once', async () => {
    const partner = await newPartner();
    const page = await openAs(partner.apiKey, '/console/keys');
    const table = page.getByRole('table', { name: 'Storage keys' });
    await table.waitFor();
    const ids = (): Promise<string[]> => table.getByRole('rowheader').allTextContents();
    const [first] = await ids();
    await page.getByRole('button', { name: 'Rotate the storage keys' }).click();
    await expectAccessibleInThemes(page, 'dialog for rotating the storage keys');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Overlap in hours' }).fill('169');
    await dialog.getByRole('button', { name: 'Rotate the storage keys' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('textbox', { name: 'Overlap in hours' }).fill('0');
    await dialog.getByRole('button', { name: 'Rotate the storage keys' }).click();
    await page.getByText('Copy it now.').waitFor();
    const accessKeyId = (await dialog.locator('code').first().textContent()) ?? '';
    const secret = await takeSecret(page);
    await expect.poll(async () => (await ids()).includes(accessKeyId)).toBe(true);
    const { endpoint, region } = readAddresses().s3;
    const s3 = connectS3({ endpoint, region, accessKeyId, secretAccessKey: new Secret(secret) });
    const object = { Bucket: partner.bucket, Key: `${partner.prefix}with-the-new-key.csv`, Body: 'x' };
    // The storage may briefly reject a new key.
    await expect.poll(() => s3.send(new PutObjectCommand(object)).catch(() => null), { timeout: 20_000 }).toBeTruthy();
    s3.destroy();
    const afterReload = async (): Promise<string[]> => {
      await page.reload();
      await waitUntilLoaded(page);
      return ids();
    };
    expect(first).not.toBe(accessKeyId);
    await expect.poll(afterReload, { timeout: 30_000 }).toEqual([accessKeyId]);
  });

  it('storage keys can be revoked one at a time', async () => {
    const partner = await newPartner();
    const page = await openAs(partner.apiKey, '/console/keys');
    const table = page.getByRole('table', { name: 'Storage keys' });
    await table.waitFor();
    const { accessKeyId } = partner.storageKeys;
    await table.getByRole('button', { name: `Revoke storage key ${accessKeyId}` }).click();
    await expectAccessibleInThemes(page, 'dialog for revoking a storage key');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke the storage key' }).click();
    await page.getByText('No storage keys').waitFor();
    expect(await partner.s3.send(new ListObjectsV2Command({ Bucket: partner.bucket })).catch(String)).toContain(
      'InvalidAccessKeyId',
    );
  });

  it('storage keys are not shown to a session without the scope for them', async () => {
    const partner = await newPartner();
    const deps = await wireUp(sharedStores());
    const { apiKey } = await addApiKey(deps, partner, { scopes: ['keys:read'] });
    await deps.close();
    const page = await openAs(apiKey, '/console/keys');
    await page.getByRole('table', { name: 'API keys' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Storage keys' }).count()).toBe(0);
  });

  it('storage keys are managed by the operator if the partner has no storage user', async () => {
    const deps = await wireUp(sharedStores());
    const { apiKey } = await newBarePartner(deps);
    await deps.close();
    const page = await openAs(apiKey, '/console/keys');
    await page.getByText('Your operator manages your storage keys.').waitFor();
    expect(await page.getByRole('button', { name: 'Rotate the storage keys' }).count()).toBe(0);
  });
});

describe('the customers page', () => {
  it('creates a customer, issues and revokes a user token, and removes the customer', async () => {
    const partner = await newPartner();
    const page = await openAs(partner.apiKey, '/console/customers');
    await page.getByRole('button', { name: 'Create a customer' }).click();
    await expectAccessibleInThemes(page, 'dialog for a new customer');
    await page.getByRole('textbox', { name: 'Name' }).fill('Globex');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('rowheader', { name: 'Globex' }).waitFor();

    await page.getByRole('button', { name: /^Tokens/ }).click();
    await page.getByRole('heading', { name: 'No user tokens' }).waitFor();
    await expectAccessibleInThemes(page, 'dialog with user tokens');
    await page.getByRole('button', { name: 'Issue a token' }).click();
    await page.getByRole('button', { name: 'Issue the token' }).click();
    await page.getByText('Copy it now.').waitFor();
    const token = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    rememberSecrets(token);
    expect(await statusOf(partner.apiKey, { 'x-user-token': token })).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: /^Revoke token/ }).click();
    await page.getByRole('button', { name: 'Revoke the token' }).click();
    await page.getByText('Revoked').waitFor();
    expect(await statusOf(partner.apiKey, { 'x-user-token': token })).toBe(401);
    await expectAccessibleInThemes(page, 'list of user tokens');
    await page.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('button', { name: /^Remove/ }).click();
    await page.getByRole('button', { name: 'Remove the customer' }).click();
    await page.getByRole('heading', { name: 'No customers yet' }).waitFor();
  });
});

describe('the attributes page', () => {
  it('creates, changes, and retires an attribute', async () => {
    const partner = await newPartner();
    const page = await openAs(partner.apiKey, '/console/attributes');
    await page.getByRole('button', { name: 'Create an attribute' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('sports');
    await page.getByRole('textbox', { name: 'Foreign keys' }).fill('sport| ball');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const line = page.getByRole('row').filter({ has: page.getByRole('rowheader') });
    await line.getByText('ball', { exact: true }).waitFor();

    await line.getByRole('button', { name: /^Keys/ }).click();
    await expectAccessibleInThemes(page, 'dialog with foreign keys');
    await page.getByRole('textbox', { name: 'Foreign keys' }).fill('ball');
    await page.getByRole('checkbox', { name: 'Remove these keys' }).check();
    await page.getByRole('button', { name: 'Remove the keys' }).click();
    await line.getByText('ball', { exact: true }).waitFor({ state: 'detached' });

    await line.getByRole('button', { name: /^Rename/ }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('outdoor');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('rowheader', { name: 'outdoor' }).waitFor();

    await line.getByRole('button', { name: /^Retire/ }).click();
    await page.getByRole('button', { name: 'Retire the attribute' }).click();
    await line.getByText('Retired').waitFor();
    expect(await line.getByRole('button', { name: /^Retire/ }).count()).toBe(0);
  });
});
