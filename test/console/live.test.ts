import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readAddresses } from '../../stack/addresses.ts';
import { audienceClient } from '../acceptance/audience-client.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { packedRows, rows } from '../support/file-rows.ts';
import { createPartner } from '../support/partners.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { type ConsoleStores, createConsoleStores } from './support/console-service.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { signInWithKey } from './support/sign-in.ts';

const isLong = inject('campaign') === 'long';
const loadedRows = isLong ? 10_000_000 : 200_000;
const longestLoadMs = isLong ? 600_000 : 60_000;

/** Records every text of the job summary element, and whether the page was reloaded. */
async function watchSummary(page: Page): Promise<{ readonly seen: () => Promise<readonly string[]> }> {
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { seenSummaries: seen });
    const note = (): void => {
      const text = document.querySelector('main .status')?.textContent ?? '';
      if (text !== '' && text !== seen.at(-1)) seen.push(text);
    };
    note();
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return {
    seen: () =>
      page.evaluate(() => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a reload removes it, and the test fails
        return (globalThis as unknown as { readonly seenSummaries: readonly string[] }).seenSummaries;
      }),
  };
}

describe(
  'an open page',
  () => {
    let service: ConsoleStores;
    let api: ServiceProcess;
    let worker: ServiceProcess | undefined;
    let storage: Proxy;

    beforeAll(async () => {
      storage = await startProxy(readAddresses().s3.endpoint);
      service = await createConsoleStores();
      api = await startApi(service.stores.environment, 'console-live');
    });
    afterAll(async () => {
      await Promise.all([stopProcess(api.child), worker && stopProcess(worker.child)]);
      await service.stores.drop();
      await storage.close();
    });

    async function openAs(apiKey: string, path: string): Promise<Page> {
      const { page, context } = await openPage({ baseURL: service.url });
      await signInWithKey(context, apiKey);
      await page.goto(path);
      await waitUntilLoaded(page);
      return page;
    }

    async function restartApi(): Promise<void> {
      api.child.kill('SIGKILL');
      await stopProcess(api.child);
      api = await startApi(service.stores.environment, 'console-live');
    }

    it('names the loads that a clear of the audience would cancel', async () => {
      const partner = await createPartner(service.stores.environment);
      await partner.upload('members/1.csv', rows(0, 10));
      const { audienceId } = await audienceClient(service.url, partner.apiKey).create('Waiting', 'members/');
      const page = await openAs(partner.apiKey, `/console/audiences/${audienceId}`);
      await page.getByRole('button', { name: 'Clear …' }).click();
      const dialog = page.getByRole('dialog', { name: 'Clear this audience?' });
      await dialog.getByText('1 open file is canceled').waitFor();
      await dialog.getByText('members/').waitFor();
      await expectAccessible(page, 'dialog for clearing an audience with open files');
      await dialog.getByRole('button', { name: 'Keep it' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: /^Cancel append/ }).click();
      await page.getByRole('dialog', { name: /^Cancel append/ }).waitFor();
      await expectAccessible(page, 'dialog for canceling an append');
    });

    it('cancels an import only once, even if the button is pressed twice', async () => {
      const partner = await createPartner(service.stores.environment);
      await partner.upload('file.csv', rows(0, 10));
      const id = await apiClient(service.url, partner.apiKey).queue({ file_path: 'file.csv', key_type: 1 });
      const page = await openAs(partner.apiKey, `/console/imports/${id}`);
      await page.getByRole('button', { name: 'Cancel import' }).click();
      const dialog = page.getByRole('dialog', { name: `Cancel import ${id}?` });
      await dialog.getByText('You can retry the import later.').waitFor();
      await expectAccessible(page, 'dialog for canceling an import');
      const keys: (string | undefined)[] = [];
      await page.route(`**/import/${id}/cancel`, async (route) => {
        keys.push((await route.request().allHeaders())['idempotency-key']);
        // The response to the first attempt is lost.
        if (keys.length < 4) return route.abort();
        return route.continue();
      });
      await dialog.getByRole('button', { name: 'Cancel the import' }).dblclick();
      await dialog.getByRole('alert').getByText('No connection to the API').waitFor();
      expect(keys).toHaveLength(3);
      await dialog.getByRole('button', { name: 'Cancel the import' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(new Set(keys).size).toBe(1);
      expect(keys).toHaveLength(4);
    });

    it('follows a load from the queue to its end without a reload, even if the API is killed', async () => {
      const partner = await createPartner(service.stores.environment);
      await partner.createAttribute('sport', 'sport');
      await partner.upload('first.csv', rows(0, 10, 'sport'));
      const file = await packedRows(loadedRows, 'sport');
      await partner.upload('large.csv.gz', file);
      const client = apiClient(service.url, partner.apiKey);
      await client.queue({ file_path: 'first.csv', key_type: 1 });
      const id = await client.queue({ file_path: 'large.csv.gz', key_type: 1 });
      const page = await openAs(partner.apiKey, `/console/imports/${id}`);
      const summary = await watchSummary(page);
      await page.getByText('Waiting behind 1 earlier job.').waitFor();

      api.child.kill('SIGKILL');
      await page.getByText('Connection lost. Reconnecting').waitFor();
      await restartApi();
      await page.getByText('Connection lost. Reconnecting').waitFor({ state: 'hidden' });
      await page.getByText('Waiting behind 1 earlier job.').waitFor();

      // The load takes until the API runs again.
      storage.make({ is: 'slow', bytesPerSecond: file.length / 60 });
      worker = await startWorker({ ...service.stores.environment, INLET_S3_ENDPOINT: storage.address }, 'console-live');
      await page.getByText('Loading files.').waitFor({ timeout: longestLoadMs });
      api.child.kill('SIGKILL');
      await page.getByText('Connection lost. Reconnecting').waitFor();
      await restartApi();
      await page.getByText('Connection lost. Reconnecting').waitFor({ state: 'hidden' });
      await page.getByText('Loading files.').waitFor();
      storage.make({ is: 'none' });
      const count = loadedRows.toLocaleString('en-US');
      await page.getByText(`${count} rows loaded, none rejected.`).waitFor({ timeout: longestLoadMs });
      const seen = await summary.seen();
      expect(seen[0]).toBe('Queued');
      expect(seen.at(-1)).toBe('Done');
      await page.getByRole('rowheader', { name: 'large.csv.gz' }).waitFor();
      await page.getByRole('link', { name: 'All imports' }).click();
      await page.getByRole('link', { name: `#${id} large.csv.gz` }).waitFor();
    });

    it('reports that the script of the next page could not be loaded, and can load it once the API answers again', async () => {
      const partner = await createPartner(service.stores.environment);
      const page = await openAs(partner.apiKey, '/console/imports');
      api.child.kill('SIGKILL');
      await stopProcess(api.child);
      await page.getByRole('link', { name: 'Limits' }).click();
      await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
      api = await startApi(service.stores.environment, 'console-live');
      await page.getByRole('button', { name: 'Load again' }).click();
      await page.getByRole('heading', { name: 'Limits', level: 1 }).waitFor();
      await page.getByRole('table', { name: 'Quotas' }).waitFor();
    });
  },
  longestLoadMs * 3,
);
