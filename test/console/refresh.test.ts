import { setTimeout as pause } from 'node:timers/promises';
import type { Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { withDatabase } from '../support/stores.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { type ConsolePartner, newPartner, sharedStores } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

/** The refresh interval of most pages. */
const refreshMs = 3_000;

describe('a page that refreshes itself', () => {
  let partner: ConsolePartner;
  let webhook: string;

  beforeAll(async () => {
    partner = await newPartner();
    webhook = await createWebhook('First');
  });

  async function createWebhook(description: string): Promise<string> {
    const created = await partner.api.request('/v1/webhooks', {
      method: 'POST',
      body: JSON.stringify({ url: 'https://hooks.invalid/inlet', description }),
    });
    expect(created.status).toBe(201);
    return created.headers.get('location') ?? '';
  }

  async function openAs(path: string): Promise<Page> {
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await page.goto(path);
    await waitUntilLoaded(page);
    return page;
  }

  const pathOfWebhook = (): string => `/console${webhook.replace('/v1', '')}`;
  const slowly = async (route: Route): Promise<void> => {
    const answer = await route.fetch();
    await pause(refreshMs + 500);
    await route.fulfill({ response: answer }).catch(() => undefined);
  };

  it('shows the changes to a record even if each response takes longer than the interval', async () => {
    const page = await openAs(pathOfWebhook());
    await page.route(`**${webhook}`, slowly);
    await partner.api.request(webhook, { method: 'PATCH', body: JSON.stringify({ description: 'Slow record' }) });
    await page.getByText('Slow record').first().waitFor();
  });

  it('shows the changes to a list even if each response takes longer than the interval', async () => {
    const page = await openAs('/console/subscriptions');
    await page.route('**/v1/marketplace/subscriptions?*', slowly);
    await partner.api.request('/v1/marketplace/subscriptions', {
      method: 'POST',
      body: JSON.stringify({ prefix: 'slow-list/', key_type: 1, compressed: false }),
    });
    await page.getByText('slow-list/').first().waitFor();
  });

  it('shows continuously that the API does not answer, until it answers again', async () => {
    const page = await openAs(pathOfWebhook());
    let failures = 0;
    await page.route(`**${webhook}`, (route) => {
      failures += 1;
      return route.abort();
    });
    await page.getByRole('alert').getByText('No connection to the API').waitFor();
    await page.evaluate(() => {
      const seen = { hidden: 0 };
      Object.assign(globalThis, { seenAlerts: seen });
      new MutationObserver(() => {
        if (document.querySelector('[role=alert]') === null) seen.hidden += 1;
      }).observe(document.body, { subtree: true, childList: true });
    });
    const before = failures;
    // Each call is tried three times.
    await expect.poll(() => failures, { timeout: 30_000 }).toBeGreaterThan(before + 4);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script above has defined it
    const hidden = await page.evaluate(() => (globalThis as unknown as { seenAlerts: { hidden: number } }).seenAlerts);
    expect(hidden).toEqual({ hidden: 0 });
    await page.unroute(`**${webhook}`);
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('sends nothing more once the session has ended', async () => {
    const { page, context } = await openPage();
    await page.clock.install();
    await signInWithKey(context, partner.apiKey);
    await page.goto(pathOfWebhook());
    await waitUntilLoaded(page);
    const [cookie] = await context.cookies();
    await withDatabase(sharedStores(), (client) =>
      client.query(
        `UPDATE console_session SET idle_expires_at = now() WHERE token_hash = sha256(convert_to($1, 'UTF8'))`,
        [cookie?.value],
      ),
    );
    await page.clock.runFor(refreshMs + 100);
    await page.getByText('Your session has ended.').waitFor();
    await page.waitForLoadState('networkidle');
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().startsWith(`${inject('console').url}/v1/`)) sent.push(request.url());
    });
    await page.clock.runFor(60_000);
    await page.waitForLoadState('networkidle');
    expect(sent).toEqual([]);
  });
});

describe('a list', () => {
  it('says that updates are paused while further pages are open, and can refresh all of them', async () => {
    const partner = await newPartner();
    for (let number = 0; number < 51; number += 1) await partner.audiences.create(`Audience ${number}`, 'nothing/');
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await page.goto('/console/audiences');
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('51 shown').waitFor();
    await page.getByText('Updates paused').waitFor();
    await partner.audiences.create('Newest', 'nothing/');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('Newest').waitFor();
    await page.getByText('52 shown').waitFor();
  });

  it('shows new rows and updates its relative times even when nothing is in progress', async () => {
    const partner = await newPartner();
    await partner.audiences.settled((await partner.audiences.create('Before', 'nothing/')).audienceId);
    const { page, context } = await openPage();
    await page.clock.install();
    await signInWithKey(context, partner.apiKey);
    await page.goto('/console/audiences');
    await page.getByText('Before').waitFor();
    await partner.audiences.settled((await partner.audiences.create('After', 'nothing/')).audienceId);
    await page.clock.runFor(31_000);
    await page.getByText('After').waitFor();
    await context.setOffline(true);
    await page.clock.runFor(5 * 60_000);
    await page.getByRole('row').filter({ hasText: 'Before' }).getByText('5 minutes ago').waitFor();
  });
});
