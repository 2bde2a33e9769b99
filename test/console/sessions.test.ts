import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { importLogListSchema } from '../../src/adapters/http/records/import-log.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { withDatabase } from '../support/stores.ts';
import { findViolations } from './support/find-violations.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { type ConsolePartner, newPartner, sharedStores } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

describe('two tabs of a browser', () => {
  let partner: ConsolePartner;
  let userToken: string;

  beforeAll(async () => {
    partner = await newPartner();
    await partner.createAttribute('Partner only', 'k');
    ({ userToken } = await partner.createCustomer('Retail Co'));
  });

  const openAttributes = async (): Promise<{ page: Page; context: BrowserContext }> => {
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await page.goto('/console/attributes');
    await page.getByRole('rowheader', { name: 'Partner only' }).or(page.getByText('Partner only')).first().waitFor();
    return { page, context };
  };
  const expectOtherUser = async (page: Page): Promise<void> => {
    await page.getByRole('heading', { name: 'Another user has signed in' }).waitFor();
    expect(await page.getByText('Partner only').count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Continue as Retail Co' }).click();
    await page.waitForURL('/console/audiences');
    await page.getByRole('heading', { name: 'Audiences', level: 1 }).waitFor();
  };

  it('two tabs do not act as different users: a tab notices the other user when it gets the focus', async () => {
    const { page, context } = await openAttributes();
    await signInWithKey(context, partner.apiKey, userToken);
    await page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await expectOtherUser(page);
  });

  it('two tabs do not act as different users: a request from the earlier user is rejected', async () => {
    const { page, context } = await openAttributes();
    await signInWithKey(context, partner.apiKey, userToken);
    await page.getByRole('link', { name: 'Audiences' }).click();
    await expectOtherUser(page);
  });

  it('two tabs share the session if the same user signs in again', async () => {
    const { page, context } = await openAttributes();
    await signInWithKey(context, partner.apiKey);
    await page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.getByRole('table', { name: 'Quotas' }).waitFor();
  });

  it('a tab repeats a request that it sent before it noticed that the same user had signed in again', async () => {
    const { page, context } = await openAttributes();
    await signInWithKey(context, partner.apiKey);
    const checked = page.waitForResponse('**/console/auth/session');
    await page.route('**/v1/limits', async (route) => {
      await checked;
      await route.continue().catch(() => undefined);
    });
    const sent = page.waitForRequest('**/v1/limits');
    await page.getByRole('link', { name: 'Limits' }).click();
    await sent;
    await page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await page.getByRole('table', { name: 'Quotas' }).waitFor();
  });
});

describe('the session of a one-time link', () => {
  it('says where to open the report again after the session has expired, even after a reload', async () => {
    const partner = await newPartner();
    const { segmentId } = await partner.audiences.create('Summer', 'a.csv');
    const made = await partner.api.request(`/v2/firstparty/segments/${segmentId}/console-links`, { method: 'POST' });
    const { url } = z.object({ url: z.string() }).parse(await made.json());
    rememberSecrets(new URL(url).hash.slice(1));
    const { page, context } = await openPage();
    await page.goto(url);
    const report = `/console/segments/${segmentId}/composition`;
    await page.waitForURL(report);
    await waitUntilLoaded(page);
    await withDatabase(sharedStores(), (client) =>
      client.query('UPDATE console_session SET idle_expires_at = now() WHERE segment_id = $1', [segmentId]),
    );
    await page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await page
      .getByText(`This link has expired. Open the report again from the application of ${partner.name}.`)
      .waitFor();
    expect(await page.getByRole('link', { name: 'Sign in again' }).count()).toBe(0);
    await page.reload();
    await page.getByRole('heading', { name: 'This link has expired' }).waitFor();
    await page.getByText(`Open the report again from the application of ${partner.name}.`).waitFor();
    expect(new URL(page.url()).pathname).toBe(report);
    expect(await findViolations(page)).toEqual([]);
    // A user with an account can still sign in, and is not sent to the expired link again.
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor();
    await signInWithKey(context, partner.apiKey);
    await page.goto('/console/');
    await page.waitForURL('/console/imports');
    await context.clearCookies();
    await page.goto(report);
    await page.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor();
  });
});

describe('a page that refreshes itself', () => {
  it('does not extend the session unless the user does something', async () => {
    const partner = await newPartner();
    const importLogId = await partner.api.queue({ file_path: 'missing/', key_type: 1, compressed: false });
    await partner.api.waitForEnd(importLogId);
    const { page, context } = await openPage();
    await page.clock.install();
    await signInWithKey(context, partner.apiKey);
    // The list refreshes itself while an import is running, so this one never ends.
    await page.route('**/v1/marketplace/import?*', async (route) => {
      const response = await route.fetch();
      const logs = importLogListSchema.parse(await response.json());
      await route.fulfill({ response, json: logs.map((log) => ({ ...log, status: 1 })) });
    });
    await page.goto('/console/imports');
    await waitUntilLoaded(page);
    const sent: boolean[] = [];
    page.on('request', async (request) => {
      if (request.url().startsWith(`${inject('console').url}/v1/`))
        sent.push((await request.allHeaders())['x-inlet-background'] !== undefined);
    });
    const heading = page.getByRole('heading', { name: 'Imports', level: 1 });
    await heading.click();
    await page.clock.fastForward('00:10');
    await expect.poll(() => sent.length).toBeGreaterThan(0);
    expect(sent).not.toContain(true);

    await page.clock.fastForward('02:00');
    await expect.poll(() => sent.at(-1)).toBe(true);
    sent.length = 0;
    await page.clock.fastForward('00:10');
    await expect.poll(() => sent.length).toBeGreaterThan(0);
    expect(sent).not.toContain(false);

    await heading.click();
    await page.clock.fastForward('00:10');
    await expect.poll(() => sent.at(-1)).toBe(false);
  });
});
