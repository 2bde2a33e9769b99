import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { proofExample } from '../../src/adapters/http/records/deletion.ts';
import { insertDeletion } from '../support/insert-deletion.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { withDatabase } from '../support/stores.ts';
import { wireUp } from '../support/wired.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { newPartner, sharedStores } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

async function openAs(apiKey: string, path: string): Promise<Page> {
  const { page, context } = await openPage({ acceptDownloads: true });
  await signInWithKey(context, apiKey);
  await page.goto(path);
  await waitUntilLoaded(page);
  return page;
}

describe('the page of deletions', () => {
  it('shows the state of each deletion and why one failed, and downloads the proof of another', async () => {
    const partner = await newPartner();
    const done = await withDatabase(sharedStores(), (client) => insertDeletion(client, partner.id));
    const requested = await partner.api.request('/v1/privacy/deletions', {
      method: 'POST',
      body: JSON.stringify({ file_path: 'missing.csv' }),
    });
    const { deletion_id: failed } = z.object({ deletion_id: z.int() }).parse(await requested.json());
    const page = await openAs(partner.apiKey, '/console/limits');
    await page.getByRole('link', { name: 'Deletions' }).click();
    const deletions = page.getByRole('table', { name: 'Deletions, newest first' });
    const failedRow = deletions.getByRole('row').filter({ hasText: `#${failed} from a file` });
    await failedRow.getByText('Failed', { exact: true }).waitFor();
    await failedRow.getByText('The file of device IDs does not exist.').waitFor();
    expect(await failedRow.getByRole('button').count()).toBe(0);
    await expectAccessible(page, 'deletions');

    await page.getByRole('combobox', { name: 'Status' }).selectOption('Done');
    await page.waitForURL('**/console/deletions?status=2');
    await expect.poll(() => deletions.getByRole('rowheader').count()).toBe(1);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: `Download the proof of deletion ${done}` }).click(),
    ]);
    expect(file.suggestedFilename()).toBe(`deletion-${done}-proof.json`);
    const proof: unknown = JSON.parse(await readFile(await file.path(), 'utf8'));
    expect(proof).toEqual(proofExample);
    await page.getByText('Before you pass it on, remove ids_salt.').waitFor();
    await expectAccessible(page, 'a downloaded proof');
  });

  it('is not shown to a session without the scope', async () => {
    const partner = await newPartner();
    const deps = await wireUp(sharedStores());
    const { apiKey } = await addApiKey(deps, partner, { scopes: ['marketplace:read'] });
    await deps.close();
    const page = await openAs(apiKey, '/console/deletions');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('link', { name: 'Deletions' }).count()).toBe(0);
  });
});
